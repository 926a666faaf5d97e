import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Precompile } from "../../../src/evm/precompile.ts";
import { bytesToWord } from "../../../src/evm/word.ts";
import { assemble, RETURN_TOP } from "./bytecode.ts";
import { chainOf, CONTRACT, GAS, gasUsed, OTHER, SENDER } from "./test-chain.ts";

/** Calls OTHER with all gas; size 32 of output at 0. */
const call = (kind: string, value = 0n): string => {
  const valueItem = kind === "CALL" || kind === "CALLCODE" ? `PUSH ${value}` : "";
  return `PUSH 32 PUSH 0 PUSH 0 PUSH 0 ${valueItem} PUSH ${OTHER} GAS ${kind}`;
};

describe("call opcodes", () => {
  it("each kind has its own caller, account, value and storage", () => {
    const code = "CALLER PUSH 0 MSTORE ADDRESS PUSH 32 MSTORE CALLVALUE PUSH 64 MSTORE";
    const callee = `PUSH 1 PUSH 1 SSTORE ${code} PUSH 96 PUSH 0 RETURN`;
    const cases = [
      ["CALL", 3n, CONTRACT, OTHER, 3n, OTHER],
      ["CALLCODE", 3n, CONTRACT, CONTRACT, 3n, CONTRACT],
      ["DELEGATECALL", 0n, SENDER, CONTRACT, 5n, CONTRACT],
    ] as const;
    for (const [kind, value, caller, account, seenValue, written] of cases) {
      const forward = `${call(kind, value)} POP PUSH 96 PUSH 0 PUSH 0 RETURNDATACOPY PUSH 96 PUSH 0 RETURN`;
      const chain = chainOf(forward, [[OTHER, { code: callee }]]);
      const { output } = chain.call({ value: 5n });
      const words = [0, 32, 64].map((at) => bytesToWord(output.subarray(at, at + 32)));
      assert.deepEqual(words, [caller, account, seenValue], kind);
      assert.equal(chain.journal.storage(written, 1n), 1n, kind);
    }
  });

  it("STATICCALL forbids every change of state, all the way down", () => {
    const changes = [
      "PUSH 1 PUSH 1 SSTORE",
      "PUSH 1 PUSH 1 TSTORE",
      "PUSH 0 PUSH 0 LOG0",
      "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 LOG4",
      "PUSH 0 PUSH 0 PUSH 0 CREATE",
      "PUSH 0 PUSH 0 PUSH 0 PUSH 0 CREATE2",
      "PUSH 0 SELFDESTRUCT",
      "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 1 PUSH 0 PUSH 0 CALL",
    ];
    for (const change of changes) {
      const direct = chainOf(change).call({ isStatic: true });
      assert.equal(direct.reason, "STATIC_VIOLATION", change);
      const inner = `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0xbeef GAS CALL ${RETURN_TOP}`;
      const others = [
        [OTHER, { code: inner }],
        [0xbeefn, { code: change }],
      ] as const;
      const nested = chainOf(`${call("STATICCALL")} POP PUSH 0 MLOAD ${RETURN_TOP}`, others).call();
      assert.equal(bytesToWord(nested.output), 0n, change);
    }
    const silent = "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 CALL";
    assert.equal(chainOf(silent).call({ isStatic: true }).status, "success");
    const callCode = "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 CALLCODE";
    assert.equal(chainOf(callCode).call({ isStatic: true }).status, "success");
  });

  it("a caller keeps a 64th of its gas and gives no more than asked", () => {
    const others = [[OTHER, { code: `GAS ${RETURN_TOP}` }]] as const;
    const before = 3 + 2 + 2 + 2 + 2 + 3 + 2 + 3 + 2600;
    const all = chainOf(`${call("CALL")} POP PUSH 32 PUSH 0 RETURN`, others).call();
    const available = GAS - before;
    const handed = available - Math.floor(available / 64);
    assert.equal(bytesToWord(all.output), BigInt(handed - 2));
    const asked = chainOf(
      `PUSH 32 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH ${OTHER} PUSH 5000 CALL POP PUSH 32 PUSH 0 RETURN`,
      others,
    );
    assert.equal(bytesToWord(asked.call().output), 4998n);
  });

  it("value costs 9000, a new account 25000, and the callee gets a stipend of 2300", () => {
    const others = [[OTHER, { code: `GAS ${RETURN_TOP}` }]] as const;
    const send = (to: bigint): string =>
      `PUSH 32 PUSH 0 PUSH 0 PUSH 0 PUSH 1 PUSH ${to} PUSH 0 CALL POP PUSH 32 PUSH 0 RETURN`;
    const paid = chainOf(send(OTHER), others).call({ value: 9n });
    assert.equal(bytesToWord(paid.output), 2298n);
    const stipendUsed = 2 + 2 + 3 + 3 + 3 + 2;
    const frame = 3 + 2 + 2 + 2 + 3 + 3 + 2 + 2 + 3 + 2 + 3;
    assert.equal(gasUsed(paid), frame + 2600 + 9000 - 2300 + stipendUsed);
    const chain = chainOf(send(0x123456n), others);
    const created = chain.call({ value: 9n });
    assert.equal(gasUsed(created), frame + 2600 + 9000 + 25_000 - 2300);
    assert.equal(chain.journal.balance(0x123456n), 1n);
    assert.equal(chain.journal.balance(CONTRACT), 8n);
  });

  it("a call for more than the balance fails, gives the gas back and clears return data", () => {
    const code = `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH ${OTHER} GAS CALL POP
      ${call("CALL", 10n)} RETURNDATASIZE ADD ${RETURN_TOP}`;
    const chain = chainOf(code, [[OTHER, { code: `PUSH 1 ${RETURN_TOP}` }]]);
    const result = chain.call({ value: 9n });
    assert.equal(bytesToWord(result.output), 0n);
    assert.ok(gasUsed(result) < 14_000, "the gas for the callee came back");
  });

  it("recursion goes 1024 calls deep, without the JavaScript stack", () => {
    // Counts the frames in slot 0, then calls itself with all gas but a little.
    const code = `PUSH 1 PUSH 0 SLOAD ADD PUSH 0 SSTORE
      PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 ADDRESS GAS CALL`;
    const chain = chainOf(code);
    const result = chain.call({ gas: 1e13 });
    assert.equal(result.status, "success");
    assert.equal(chain.journal.storage(CONTRACT, 0n), 1025n);
  });

  it("output goes to memory as far as it fits and to the return data in full", () => {
    const callee = `PUSH ${(1n << 256n) - 1n} PUSH 0 MSTORE PUSH 64 PUSH 0 RETURN`;
    const code = `PUSH 3 PUSH 5 PUSH 0 PUSH 0 PUSH 0 PUSH ${OTHER} GAS CALL
      PUSH 40 MSTORE RETURNDATASIZE PUSH 72 MSTORE PUSH 104 PUSH 0 RETURN`;
    const { output } = chainOf(code, [[OTHER, { code: callee }]]).call();
    assert.deepEqual([...output.subarray(4, 9)], [0, 255, 255, 255, 0]);
    assert.equal(bytesToWord(output.subarray(40, 72)), 1n);
    assert.equal(bytesToWord(output.subarray(72, 104)), 64n);
  });

  it("RETURNDATACOPY beyond the end fails, even of nothing", () => {
    const others = [[OTHER, { code: `PUSH 1 ${RETURN_TOP}` }]] as const;
    const cases = [
      ["PUSH 32 PUSH 0", "success"],
      ["PUSH 0 PUSH 32", "success"],
      ["PUSH 1 PUSH 32", "failure"],
      ["PUSH 0 PUSH 33", "failure"],
      [`PUSH 0 PUSH ${1n << 64n}`, "failure"],
      [`PUSH ${(1n << 256n) - 1n} PUSH 1`, "failure"],
    ] as const;
    for (const [range, status] of cases) {
      const result = chainOf(`${call("CALL")} POP ${range} PUSH 0 RETURNDATACOPY`, others).call();
      assert.equal(result.status, status, range);
      if (status === "failure") assert.equal(result.reason, "RETURN_DATA_OUT_OF_BOUNDS", range);
    }
  });

  it("a reverted callee keeps its gas and shows its data; a failed one loses all", () => {
    const code = `${call("CALL")} RETURNDATASIZE PUSH 0 MLOAD ADD ADD ${RETURN_TOP}`;
    const reverting = "PUSH 1 PUSH 1 SSTORE PUSH 9 PUSH 0 MSTORE PUSH 32 PUSH 0 REVERT";
    const reverted = chainOf(code, [[OTHER, { code: reverting }]]);
    const result = reverted.call();
    assert.equal(bytesToWord(result.output), 0n + 32n + 9n);
    assert.equal(reverted.journal.storage(OTHER, 1n), 0n);
    assert.ok(gasUsed(result) < 30_000);
    const failing = chainOf(code, [[OTHER, { code: "INVALID" }]]).call();
    assert.equal(bytesToWord(failing.output), 0n);
    assert.ok(gasUsed(failing) > (GAS * 62) / 64);
  });

  it("precompiles cost their gas, may fail and are undone with their value", () => {
    const double: Precompile = {
      name: "double",
      gasCost: (input) => (input.length === 3 ? Infinity : 100),
      run: (input) => (input.length === 2 ? undefined : Uint8Array.of((input[0] ?? 0) * 2)),
    };
    const run = (size: number): { result: bigint; balance: bigint } => {
      const code = `PUSH 21 PUSH 0 MSTORE8 PUSH 1 PUSH 32 PUSH ${size} PUSH 0 PUSH 1 PUSH 9
        PUSH 50000 CALL PUSH 1 MSTORE8 PUSH 32 MLOAD ${RETURN_TOP}`;
      const chain = chainOf(code, [], { precompiles: new Map([[9n, double]]) });
      return {
        result: bytesToWord(chain.call({ value: 1n }).output),
        balance: chain.journal.balance(9n),
      };
    };
    assert.deepEqual(run(1), { result: 42n << 248n, balance: 1n });
    assert.deepEqual(run(2), { result: 0n, balance: 0n }, "it refused its input");
    assert.deepEqual(run(3), { result: 0n, balance: 0n }, "no gas pays for it");
    const direct = chainOf("", [], { precompiles: new Map([[9n, double]]) });
    const result = direct.call({ to: 9n, data: Uint8Array.of(5) });
    assert.deepEqual([result.output[0], gasUsed(result)], [10, 100]);
  });

  describe("with delegation (EIP-7702)", () => {
    const DELEGATE = 0xde1e6a7en;
    const designator = assemble(`0xef0100${DELEGATE.toString(16).padStart(40, "0")}`);
    const delegateCode = `ADDRESS PUSH 0 MSTORE CODESIZE PUSH 32 MSTORE PUSH 64 PUSH 0 RETURN`;
    const others = [
      [OTHER, { code: designator }],
      [DELEGATE, { code: delegateCode }],
    ] as const;

    it("calls run the delegate's code in the account and pay for both accesses", () => {
      for (const kind of ["CALL", "STATICCALL"]) {
        const code = `${call(kind)} POP PUSH 64 PUSH 0 PUSH 0 RETURNDATACOPY PUSH 64 PUSH 0 RETURN`;
        const { output } = chainOf(code, others).call();
        assert.equal(bytesToWord(output.subarray(0, 32)), OTHER, kind);
        const codeSize = BigInt(assemble(delegateCode).length);
        assert.equal(bytesToWord(output.subarray(32)), codeSize, kind);
      }
      const cold = gasUsed(chainOf(call("CALL"), others).call());
      const twice = gasUsed(chainOf(`${call("CALL")} ${call("CALL")}`, others).call());
      assert.equal(cold - (twice - cold), 2 * 2500 + 3, "2600 then 100, twice, and memory once");
    });

    it("EXTCODE opcodes see the designator itself", () => {
      const chain = chainOf(`PUSH ${OTHER} EXTCODESIZE ${RETURN_TOP}`, others);
      assert.equal(bytesToWord(chain.call().output), 23n);
    });

    it("a message to the account runs and warms the delegate", () => {
      const chain = chainOf("", others);
      const result = chain.call({ to: OTHER });
      assert.equal(bytesToWord(result.output.subarray(0, 32)), OTHER);
      assert.equal(chain.journal.isAddressWarm(DELEGATE), true);
    });

    it("delegation is not followed twice, and one to a precompile runs nothing", () => {
      const loop = chainOf("", [
        [OTHER, { code: designator }],
        [DELEGATE, { code: designator }],
      ]);
      assert.equal(loop.call({ to: OTHER }).reason, "INVALID_OPCODE");
      const identity: Precompile = { name: "nine", gasCost: () => 0, run: () => Uint8Array.of(9) };
      const toPrecompile = assemble(`0xef0100${"0".repeat(38)}04`);
      const chain = chainOf(
        `${call("CALL")} RETURNDATASIZE ${RETURN_TOP}`,
        [[OTHER, { code: toPrecompile }]],
        {
          precompiles: new Map([[4n, identity]]),
        },
      );
      assert.equal(bytesToWord(chain.call().output), 0n);
      assert.equal(chain.call({ to: OTHER }).output.length, 0);
    });

    it("before Prague a designator is only invalid code", () => {
      assert.equal(
        chainOf("", others, { fork: "cancun" }).call({ to: OTHER }).reason,
        "INVALID_OPCODE",
      );
    });
  });
});

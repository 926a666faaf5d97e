import assert from "node:assert/strict";
import { describe, it } from "node:test";

import {
  OPCODE_NAMES,
  STACK_ALLOWED,
  STACK_NEEDED,
  STATIC_GAS,
} from "../../../src/evm/opcodes/opcode-table.ts";
import { assemble, RETURN_TOP } from "./bytecode.ts";
import { BLOCK, chainOf, CONTRACT, GAS, gasUsed, runForWord, SENDER } from "./test-chain.ts";

describe("control flow", () => {
  it("running off the end of the code is a STOP, also in the middle of a PUSH", () => {
    for (const code of ["", "PUSH 1", "0x60", "0x7f01", "0x61ff"]) {
      const result = chainOf(code).call();
      assert.equal(result.status, "success", code);
      assert.equal(result.output.length, 0, code);
    }
  });

  it("jumps land on a JUMPDEST only, never in the operand of a PUSH or outside the code", () => {
    const cases = [
      ["PUSH 4 JUMP INVALID JUMPDEST", "success"],
      ["PUSH 5 JUMP PUSH1 JUMPDEST JUMPDEST", "success"],
      ["PUSH 4 JUMP PUSH1 JUMPDEST", "failure"],
      ["PUSH 0 JUMP", "failure"],
      ["PUSH 1000 JUMP", "failure"],
      [`PUSH ${1n << 53n} JUMP`, "failure"],
      [`PUSH ${(1n << 256n) - 1n} JUMP`, "failure"],
      // 2^32 + 5: the low 32 bits would be a JUMPDEST.
      ["PUSH 4294967303 JUMP JUMPDEST JUMPDEST", "failure"],
      ["PUSH 1 PUSH 6 JUMPI INVALID JUMPDEST", "success"],
      ["PUSH 0 PUSH 999 JUMPI", "success"],
      [`PUSH ${1n << 255n} PUSH 999 JUMPI`, "failure"],
    ] as const;
    for (const [code, status] of cases) {
      const result = chainOf(code).call();
      assert.equal(result.status, status, code);
      if (status === "failure") assert.equal(result.reason, "INVALID_JUMP", code);
    }
  });

  it("every opcode fails with one item too few", () => {
    for (let op = 0; op < 256; op++) {
      const needed = STACK_NEEDED[op]!;
      if (needed === 0) continue;
      const code = Uint8Array.from([...Array<number>(needed - 1).fill(0x5f), op]);
      const result = chainOf(code).call();
      assert.equal(result.reason, "STACK_UNDERFLOW", OPCODE_NAMES[op] ?? "");
      assert.equal(result.gasLeft, 0, OPCODE_NAMES[op] ?? "");
    }
  });

  it("the stack holds 1024 items and no more", () => {
    for (let op = 0; op < 256; op++) {
      if (OPCODE_NAMES[op] === undefined || STACK_ALLOWED[op]! >= 1024) continue;
      const full = Uint8Array.from([...Array<number>(1024).fill(0x5f), op]);
      assert.equal(chainOf(full).call().reason, "STACK_OVERFLOW", OPCODE_NAMES[op] ?? "");
      const fitting = Uint8Array.from([...Array<number>(1023).fill(0x5f), op]);
      assert.equal(chainOf(fitting).call().status, "success", OPCODE_NAMES[op] ?? "");
    }
  });

  it("every opcode takes at least its constant gas", () => {
    for (let op = 0; op < 256; op++) {
      const [gas, needed] = [STATIC_GAS[op]!, STACK_NEEDED[op]!];
      if (gas === 0) continue;
      const code = Uint8Array.from([...Array<number>(needed).fill(0x5f), op]);
      const result = chainOf(code).call({ gas: 2 * needed + gas - 1 });
      assert.equal(result.reason, "OUT_OF_GAS", OPCODE_NAMES[op] ?? "");
    }
  });

  it("a byte that is no opcode fails and burns the gas", () => {
    let count = 0;
    for (let op = 0; op < 256; op++) {
      if (OPCODE_NAMES[op] !== undefined && op !== 0xfe) continue;
      count++;
      const result = chainOf(Uint8Array.of(op)).call();
      assert.equal(result.reason, "INVALID_OPCODE", op.toString(16));
      assert.equal(result.gasLeft, 0);
    }
    assert.equal(count, 256 - 148);
  });

  it("REVERT keeps the gas and gives its data", () => {
    const result = chainOf("PUSH 7 PUSH 0 MSTORE PUSH 32 PUSH 0 REVERT").call();
    assert.equal(result.status, "revert");
    assert.equal(result.reason, undefined);
    assert.equal(result.output[31], 7);
    assert.equal(gasUsed(result), 3 + 2 + 3 + 3 + 3 + 2);
  });

  it("PC, GAS, MSIZE and the PUSH, DUP and SWAP families say what they should", () => {
    assert.equal(runForWord(`JUMPDEST PC ${RETURN_TOP}`), 1n);
    assert.equal(runForWord(`GAS ${RETURN_TOP}`, 5_000_000_000), 4_999_999_998n);
    assert.equal(runForWord(`PUSH 1 PUSH 33 MSTORE8 MSIZE ${RETURN_TOP}`), 64n);
    for (let size = 1; size <= 32; size++) {
      const operand = (1n << BigInt(8 * size)) - 3n;
      assert.equal(runForWord(`PUSH ${operand} ${RETURN_TOP}`), operand, `PUSH${size}`);
    }
    const items = Array.from({ length: 17 }, (_, index) => `PUSH ${100 + index}`).join(" ");
    for (let depth = 1; depth <= 16; depth++) {
      assert.equal(runForWord(`${items} DUP${depth} ${RETURN_TOP}`), BigInt(117 - depth));
      assert.equal(runForWord(`${items} SWAP${depth} ${RETURN_TOP}`), BigInt(116 - depth));
      const pops = "POP ".repeat(depth);
      assert.equal(runForWord(`${items} SWAP${depth} ${pops} ${RETURN_TOP}`), 116n);
    }
  });

  it("the environment is that of the block, the transaction and the call", () => {
    const cases = {
      ADDRESS: CONTRACT,
      CALLER: SENDER,
      ORIGIN: SENDER,
      CALLVALUE: 0n,
      GASPRICE: 11n,
      COINBASE: BLOCK.coinbase,
      TIMESTAMP: BLOCK.timestamp,
      NUMBER: BLOCK.number,
      PREVRANDAO: BLOCK.prevRandao,
      GASLIMIT: BLOCK.gasLimit,
      CHAINID: 1337n,
      BASEFEE: BLOCK.baseFee,
      BLOBBASEFEE: BLOCK.blobBaseFee,
      "PUSH 0 BLOBHASH": 0xb10bn,
      "PUSH 1 BLOBHASH": 0n,
      [`PUSH ${1n << 200n} BLOBHASH`]: 0n,
      "PUSH 999 BLOCKHASH": 0xb10c_0000n + 999n,
      "PUSH 744 BLOCKHASH": 0xb10c_0000n + 744n,
      "PUSH 743 BLOCKHASH": 0n,
      "PUSH 1000 BLOCKHASH": 0n,
      [`PUSH ${(1n << 256n) - 1n} BLOCKHASH`]: 0n,
      SELFBALANCE: 0n,
      CODESIZE: 7n,
      CALLDATASIZE: 0n,
      RETURNDATASIZE: 0n,
    };
    for (const [code, expected] of Object.entries(cases)) {
      assert.equal(runForWord(`${code} ${RETURN_TOP}`), expected, code);
    }
  });

  it("the stop flag ends endless loops, also those of calls, and undoes what was done", () => {
    const loops = [
      "PUSH 1 PUSH 1 SSTORE JUMPDEST PUSH 5 JUMP",
      "PUSH 1 PUSH 1 SSTORE JUMPDEST PUSH 1 PUSH 5 JUMPI",
      "PUSH 1 PUSH 1 SSTORE PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 ADDRESS GAS CALL PUSH 5 JUMP",
    ];
    for (const code of loops) {
      let polls = 0;
      const chain = chainOf(code, [], { shouldStop: () => ++polls === 5 });
      const result = chain.call({ gas: 1e12 });
      assert.equal(result.status, "stopped", code);
      assert.equal(result.reason, undefined);
      assert.equal(chain.journal.storage(CONTRACT, 1n), 0n, code);
      assert.equal(polls, 5);
      // The same machine goes on with the next message.
      assert.equal(chain.call({ to: 0xdeadn }).status, "success");
    }
  });

  it("code that was forgotten by the cache runs as before", () => {
    const code = `PUSH ${1n << 250n} ${RETURN_TOP}`;
    const others = [[1n, { code: "PUSH 1 POP" }]] as const;
    const chain = chainOf(code, others, { codeCacheBytesMax: 1 });
    for (let round = 0; round < 3; round++) {
      assert.equal(chain.call().output[0], 4);
      assert.equal(chain.call({ to: 1n }).status, "success");
    }
  });

  it("a call to an account without code succeeds and costs nothing", () => {
    const chain = chainOf("");
    const result = chain.call({ to: 0x1234n, value: 5n });
    assert.deepEqual([result.status, result.gasLeft], ["success", GAS]);
    assert.equal(chain.journal.balance(0x1234n), 5n);
  });

  it("a message whose sender cannot pay the value fails and keeps the gas", () => {
    const chain = chainOf("");
    const value = 10n ** 19n;
    const call = chain.call({ value });
    assert.deepEqual([call.reason, call.gasLeft], ["INSUFFICIENT_BALANCE", GAS]);
    const data = assemble("STOP");
    const create = chain.execute({
      kind: "create",
      caller: SENDER,
      value,
      data,
      gas: 9,
      nonce: 0n,
    });
    assert.deepEqual([create.reason, create.gasLeft], ["INSUFFICIENT_BALANCE", 9]);
  });
});

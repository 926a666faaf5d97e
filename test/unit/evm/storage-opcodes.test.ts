import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bytesToWord } from "../../../src/evm/word.ts";
import { RETURN_TOP } from "./bytecode.ts";
import { chainOf, CONTRACT, gasUsed, type TestChain } from "./test-chain.ts";

/** The table of EIP-3529: original value, values stored to slot 0, gas used, refund. */
const EIP_3529_CASES = [
  [0n, [0n, 0n], 212, 0],
  [0n, [0n, 1n], 20_112, 0],
  [0n, [1n, 0n], 20_112, 19_900],
  [0n, [1n, 2n], 20_112, 0],
  [0n, [1n, 1n], 20_112, 0],
  [1n, [0n, 0n], 3012, 4800],
  [1n, [0n, 1n], 3012, 2800],
  [1n, [0n, 2n], 3012, 0],
  [1n, [2n, 0n], 3012, 4800],
  [1n, [2n, 3n], 3012, 0],
  [1n, [2n, 1n], 3012, 2800],
  [1n, [2n, 2n], 3012, 0],
  [1n, [1n, 0n], 3012, 4800],
  [1n, [1n, 2n], 3012, 0],
  [1n, [1n, 1n], 212, 0],
  [0n, [1n, 0n, 1n], 40_118, 19_900],
  [1n, [0n, 1n, 0n], 5918, 7600],
] as const;

function chainWithSlot(code: string, original: bigint): TestChain {
  const chain = chainOf(code, [[CONTRACT, { code, nonce: 1n, storage: { 0: original } }]]);
  chain.journal.warmSlot(CONTRACT, 0n);
  return chain;
}

describe("storage opcodes", () => {
  it("SSTORE costs and refunds what EIP-3529 lists", () => {
    for (const [original, values, gas, refund] of EIP_3529_CASES) {
      // PUSH1 throughout, as in the table: 6 gas for the operands of each store.
      const code = values.map((value) => `0x600${value} 0x6000 SSTORE`).join(" ");
      const chain = chainWithSlot(code, original);
      const result = chain.call();
      const label = `${original} -> ${values.join(" -> ")}`;
      assert.equal(gasUsed(result), gas, label);
      assert.equal(chain.journal.refund(), refund, label);
      assert.equal(chain.journal.storage(CONTRACT, 0n), values.at(-1), label);
    }
  });

  it("the first access to a slot is cold for SLOAD and SSTORE alike", () => {
    const load = chainOf("PUSH 5 SLOAD PUSH 5 SLOAD").call();
    assert.equal(gasUsed(load), 3 + 2100 + 3 + 100);
    const store = chainOf("PUSH 1 PUSH 5 SSTORE PUSH 5 SLOAD").call();
    assert.equal(gasUsed(store), 6 + 2100 + 20_000 + 3 + 100);
    const same = chainOf("PUSH 0 PUSH 5 SSTORE").call();
    assert.equal(gasUsed(same), 5 + 2100 + 100);
  });

  it("SSTORE fails with 2300 gas or less, even when it would cost only 100", () => {
    const code = "0x6001 0x6000 SSTORE";
    assert.equal(chainWithSlot(code, 1n).call({ gas: 2306 }).reason, "OUT_OF_GAS");
    const enough = chainWithSlot(code, 1n).call({ gas: 2307 });
    assert.deepEqual([enough.status, enough.gasLeft], ["success", 2307 - 106]);
  });

  it("a failed frame gives back neither storage nor refund nor warmth", () => {
    const chain = chainWithSlot("PUSH 0 PUSH 0 SSTORE PUSH 1 SLOAD INVALID", 1n);
    assert.equal(chain.call().reason, "INVALID_OPCODE");
    assert.equal(chain.journal.storage(CONTRACT, 0n), 1n);
    assert.equal(chain.journal.refund(), 0);
    assert.equal(chain.journal.isSlotWarm(CONTRACT, 1n), false);
  });

  it("transient storage keeps a value for 100 gas and undoes it with its frame", () => {
    const chain = chainOf(`PUSH 7 PUSH 1 TSTORE PUSH 1 TLOAD ${RETURN_TOP}`);
    const result = chain.call();
    assert.equal(bytesToWord(result.output), 7n);
    assert.equal(gasUsed(result), 3 + 3 + 100 + 3 + 100 + 2 + 3 + 3 + 3 + 2);
    assert.equal(chain.journal.transient(CONTRACT, 1n), 7n);
    const failing = chainOf("PUSH 7 PUSH 1 TSTORE PUSH 0 PUSH 0 REVERT");
    failing.call();
    assert.equal(failing.journal.transient(CONTRACT, 1n), 0n);
  });
});

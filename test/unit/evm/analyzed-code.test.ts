import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AnalyzedCode, AnalyzedCodeCache } from "../../../src/evm/analyzed-code.ts";
import { assemble } from "./bytecode.ts";

const MEGABYTES = 1_000_000;

function codeOf(size: number, hash: bigint): { bytes: Uint8Array; hash: bigint } {
  return { bytes: new Uint8Array(size).fill(0x61), hash };
}

describe("AnalyzedCodeCache", () => {
  it("counts all that an analysis holds, its decoded operands among it", () => {
    const cache = new AnalyzedCodeCache(64 * MEGABYTES);
    const analyzed = cache.analyze(codeOf(24_576, 1n));
    analyzed.decodePush(0);
    const { bytes, jumpTargets, pushes } = analyzed;
    assert.equal(cache.heldBytes, bytes.length + jumpTargets.length + 8 * pushes.length);
    for (let hash = 2n; hash < 1_000n; hash++) cache.analyze(codeOf(24_576, hash));
    assert.ok(cache.heldBytes <= 64 * MEGABYTES);
    assert.ok(cache.heldBytes > 60 * MEGABYTES);
  });

  it("does not keep code so long that it would drive out all others", () => {
    const cache = new AnalyzedCodeCache(64 * MEGABYTES);
    const small = cache.analyze(codeOf(24_576, 1n));
    const heldBytes = cache.heldBytes;
    for (let hash = 2n; hash < 10n; hash++) cache.analyze(codeOf(2_400_000, hash));
    assert.equal(cache.heldBytes, heldBytes);
    assert.equal(cache.analyze(codeOf(24_576, 1n)), small);
  });
});

describe("the longest run of opcodes without a look at the preemption", () => {
  const runOf = (source: string): number => new AnalyzedCode(assemble(source)).longestRun;

  it("counts opcodes, not their operands, over jumps that may not be taken", () => {
    assert.equal(runOf("PUSH 1 PUSH 2 ADD"), 3);
    assert.equal(runOf(`PUSH ${2n ** 255n} PUSH ${2n ** 200n} DIV`), 3);
    assert.equal(runOf("PUSH 0 PUSH 0 JUMPI JUMPDEST PUSH 1 POP"), 6);
  });

  it("begins anew where the interpreter looks", () => {
    for (const op of ["STOP", "JUMP", "MULMOD", "EXP", "SLOAD", "KECCAK256", "CALL", "LOG0"]) {
      assert.equal(runOf(`PUSH 1 ${op} PUSH 1 PUSH 1 ${op} PUSH 1`), 2, op);
    }
  });
});

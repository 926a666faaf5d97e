import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AnalyzedCodeCache } from "../../../src/evm/analyzed-code.ts";

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

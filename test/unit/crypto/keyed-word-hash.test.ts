import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { keyedWordHash } from "../../../src/crypto/keyed-word-hash.ts";

describe("the keyed hash of words", () => {
  it("is a function of the word, of 32 bits", () => {
    for (const word of [0n, 1n, (1n << 64n) - 1n, 1n << 64n, (1n << 256n) - 1n]) {
      const hash = keyedWordHash(word);
      assert.equal(hash, keyedWordHash(word));
      assert.ok(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32);
    }
  });

  it("spreads words over the upper bits, whichever bits they differ in and key was drawn", async () => {
    for (let draw = 0; draw < 20; draw++) {
      const hash = await drawHash(draw);
      for (let shift = 0n; shift <= 240n; shift += 16n) {
        const places = new Set<number>();
        for (let index = 0n; index < 4096n; index++) places.add(hash(index << shift) >>> 18);
        // Into 16,384 places: a random function fills 3625 of them, and in 20,000 tries over 3500.
        assert.ok(places.size > 3300, `${places.size} places for a shift of ${shift}`);
      }
    }
  });
});

/** The hash as another process would have it: the key is drawn when the module is loaded. */
async function drawHash(draw: number): Promise<typeof keyedWordHash> {
  const name = `../../../src/crypto/keyed-word-hash.ts?draw=${draw}`;
  const module = (await import(name)) as { keyedWordHash: typeof keyedWordHash };
  return module.keyedWordHash;
}

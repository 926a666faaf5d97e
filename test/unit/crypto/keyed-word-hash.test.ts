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

  it("spreads words over the upper bits, whichever bits the words differ in", () => {
    for (let shift = 0n; shift <= 240n; shift += 16n) {
      const places = new Set<number>();
      const count = 4096;
      for (let index = 0; index < count; index++) {
        places.add(keyedWordHash(BigInt(index) << shift) >>> 18);
      }
      // Into 16,384 places: a random function fills 3625 of them.
      assert.ok(places.size > 1000, `${places.size} places for a shift of ${shift}`);
    }
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { writeBigEndian } from "../../../src/base/big-endian.ts";
import { Prng } from "../../../src/base/prng.ts";
import { addressHash, wordHash } from "../../../src/chain/word-hash.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";

const bytesOf = (word: bigint, size: number): Uint8Array => {
  const bytes = new Uint8Array(size);
  writeBigEndian(word, bytes, 0, size);
  return bytes;
};

describe("the hashes of words", () => {
  it("are those of their bytes, also when words take each other's place", () => {
    const prng = new Prng(3);
    // Few low bits and few high ones: most words have met their place and its other owners before.
    const draw = (): bigint => (BigInt(prng.below(4)) << 100n) | BigInt(prng.below(50));
    for (let step = 0; step < 2000; step++) {
      const word = draw();
      assert.deepEqual(addressHash(word), keccak256(bytesOf(word, 20)), `address ${word}`);
      assert.deepEqual(wordHash(word), keccak256(bytesOf(word, 32)), `word ${word}`);
    }
  });

  it("tell words apart that differ in any bit", () => {
    const hashes = Array.from({ length: 256 }, (_, bit) => wordHash(1n << BigInt(bit)).join());
    assert.equal(new Set(hashes).size, hashes.length);
  });
});

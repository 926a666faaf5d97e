import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMPT } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { hexToBytes } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import {
  EMPTY_CODE_HASH,
  EMPTY_OMMERS_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
} from "../../../src/chain/hash-constants.ts";
import { listRoot } from "../../../src/chain/list-root.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { sha256 } from "../../../src/crypto/sha256.ts";

async function rootOfTrie(items: readonly Uint8Array[]): Promise<Uint8Array> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
  return trie.root();
}

describe("listRoot", () => {
  it("is the root of the trie of all items, at every length where the trie changes shape", async () => {
    const prng = new Prng(1);
    for (const length of [
      0, 1, 2, 3, 15, 16, 17, 18, 127, 128, 129, 130, 255, 256, 257, 300, 1030,
    ]) {
      const items = Array.from({ length }, () => prng.bytes(prng.between(1, 120)));
      assert.deepEqual(listRoot(items), await rootOfTrie(items), `${length} items`);
    }
  });

  it("is right for items of every size that changes the form of a length", async () => {
    for (const size of [1, 23, 30, 55, 56, 249, 250, 255, 256, 5000, 65_530, 65_540]) {
      for (const length of [1, 2, 20]) {
        const items = Array.from({ length }, (_, index) => new Uint8Array(size).fill(index + 1));
        assert.deepEqual(listRoot(items), await rootOfTrie(items), `${length} of ${size} bytes`);
      }
    }
  });

  it("is right for items so small that their nodes are not hashed", async () => {
    const item = fc.uint8Array({ minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 140, size: "max" }), async (items) => {
        assert.deepEqual(listRoot(items), await rootOfTrie(items));
      }),
      { numRuns: 15 },
    );
  });
});

describe("hash constants", () => {
  it("are the hashes that their names say", () => {
    assert.deepEqual(EMPTY_TRIE_ROOT, keccak256(hexToBytes("0x80")));
    assert.deepEqual(EMPTY_OMMERS_HASH, keccak256(hexToBytes("0xc0")));
    assert.deepEqual(EMPTY_CODE_HASH, keccak256(new Uint8Array(0)));
    assert.deepEqual(EMPTY_REQUESTS_HASH, new Uint8Array(sha256(new Uint8Array(0))));
  });
});

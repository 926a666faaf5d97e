import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createMPTFromProof, verifyMPTWithMerkleProof } from "@ethereumjs/mpt";

import { bytesToHex } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { verifyProof } from "../../../src/state/trie/trie-proof.ts";
import { EMPTY_TRIE_ROOT } from "../../../src/chain/hash-constants.ts";
import { Trie } from "../../../src/state/trie/trie.ts";

const key = (index: number): Uint8Array => keccak256(Uint8Array.of(index >> 8, index));

/** Hashed keys with long and short values, so that some leaves lie inside their branches. */
function filledTrie(count: number): Trie {
  const trie = new Trie();
  for (let index = 0; index < count; index++) {
    trie.put(key(index), new Uint8Array(index % 3 === 0 ? 1 : 60).fill(1 + (index % 100)));
  }
  return trie;
}

describe("verifyProof", () => {
  it("accepts what the trie proves, and so does another implementation", async () => {
    for (const count of [1, 2, 17, 300]) {
      const trie = filledTrie(count);
      const root = trie.rootHash();
      for (let index = 0; index < count + 40; index += 7) {
        const proof = trie.prove(key(index));
        const expected = index < count ? trie.get(key(index)) : undefined;
        const verified = verifyProof(root, key(index), proof);
        assert.ok(verified.ok, `key ${index} of ${count}`);
        assert.deepEqual(verified.value, expected, `key ${index} of ${count}`);
        const other = await createMPTFromProof(proof, { root });
        const found = await verifyMPTWithMerkleProof(other, root, key(index), proof);
        assert.deepEqual(found ?? undefined, expected, `key ${index} of ${count}, the other way`);
      }
    }
  });

  it("refuses a proof in which any byte is changed", () => {
    const trie = filledTrie(60);
    const root = trie.rootHash();
    const prng = new Prng(2);
    for (let round = 0; round < 300; round++) {
      const wanted = key(prng.below(80));
      const proof = trie.prove(wanted);
      const node = prng.below(proof.length);
      const bytes = proof[node]!;
      bytes[prng.below(bytes.length)]! ^= 1 << prng.below(8);
      const verified = verifyProof(root, wanted, proof);
      assert.ok(!verified.ok, `round ${round}`);
      assert.equal(verified.error.code, "PROOF_HASH_MISMATCH", `round ${round}`);
    }
  });

  it("refuses proofs that stop early, go on, or are of another key", () => {
    const trie = filledTrie(60);
    const root = trie.rootHash();
    const proof = trie.prove(key(5));
    const codeOf = (nodes: readonly Uint8Array[], wanted = key(5)): string => {
      const verified = verifyProof(root, wanted, nodes);
      return verified.ok ? "ok" : verified.error.code;
    };
    assert.equal(codeOf(proof), "ok");
    assert.equal(codeOf(proof.slice(0, -1)), "PROOF_TOO_SHORT");
    assert.equal(codeOf([]), "PROOF_TOO_SHORT");
    assert.equal(codeOf([...proof, proof[0]!]), "PROOF_TOO_LONG");
    assert.equal(codeOf(proof.slice(1)), "PROOF_HASH_MISMATCH");
    const foreign = Array.from({ length: 60 }, (_, index) => codeOf(proof, key(index)));
    assert.ok(foreign.includes("PROOF_HASH_MISMATCH") || foreign.includes("PROOF_TOO_SHORT"));
  });

  it("refuses nodes that are hashed right and formed wrong", () => {
    const malformed = [
      [0xc0],
      [0xc2, 0x20, 0x80],
      [0xc2, 0x40, 0x01],
      [0xc2, 0x00, 0x01],
      [0xc1, 0x20],
      [0x83, 1, 2, 3],
      [0xc3, 0x20, 0x01],
    ];
    for (const bytes of malformed) {
      const node = Uint8Array.from(bytes);
      const verified = verifyProof(keccak256(node), key(0), [node]);
      assert.ok(!verified.ok, bytesToHex(node));
      assert.equal(verified.error.code, "PROOF_NODE_MALFORMED", bytesToHex(node));
    }
  });

  it("takes no nodes as the proof that an empty trie holds nothing", () => {
    assert.deepEqual(verifyProof(EMPTY_TRIE_ROOT, key(1), []), { ok: true, value: undefined });
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createMPT } from "@ethereumjs/mpt";

import { bytesToHex } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { EMPTY_TRIE_ROOT } from "../../../src/chain/hash-constants.ts";
import { Trie, type NodeSink, type NodeSource } from "../../../src/state/trie/trie.ts";

/** Records by path, as text. */
class Records implements NodeSource, NodeSink {
  readonly byPath = new Map<string, Uint8Array>();
  load(path: Uint8Array): Uint8Array | undefined {
    return this.byPath.get(bytesToHex(path));
  }
  put(path: Uint8Array, record: Uint8Array): void {
    this.byPath.set(bytesToHex(path), record);
  }
  delete(path: Uint8Array): void {
    assert.ok(this.byPath.delete(bytesToHex(path)), "only what is recorded is deleted");
  }
}

type KeyShape = { readonly name: string; readonly draw: (prng: Prng) => Uint8Array };

/** Long random keys as in the state, and short ones that collide, nest and end inside others. */
const KEY_SHAPES: readonly KeyShape[] = [
  { name: "hashed", draw: (prng) => keccak256(Uint8Array.of(prng.below(200), 7)) },
  { name: "two bytes of few values", draw: (prng) => prng.bytes(2).map((byte) => byte & 0x11) },
  {
    name: "of any length, one in another",
    draw: (prng) => prng.bytes(prng.between(1, 5)).map((byte) => byte & 0x12),
  },
  {
    name: "32 bytes that differ at the end",
    draw: (prng) => {
      const key = new Uint8Array(32);
      key.set(prng.bytes(2), 30);
      return key.map((byte) => byte & 0x33);
    },
  },
];

describe("Trie", () => {
  for (const { name, draw } of KEY_SHAPES) {
    it(`has the root of another implementation after each batch, keys ${name}`, async () => {
      for (let seed = 1; seed <= 3; seed++) {
        const prng = new Prng(seed);
        const records = new Records();
        let trie = new Trie(records);
        const content = new Map<string, [Uint8Array, Uint8Array]>();
        for (let batch = 0; batch < 12; batch++) {
          const label = `SEED=${seed} batch ${batch}`;
          const count = prng.between(1, 25);
          for (let index = 0; index < count; index++) {
            const key = draw(prng);
            if (prng.chance(batch % 3 === 2 ? 0.8 : 0.3)) {
              trie.delete(key);
              content.delete(bytesToHex(key));
            } else {
              const value = prng.bytes(prng.pick([1, 2, 33, 60, 300]));
              value[0] = 1;
              trie.put(key, value);
              content.set(bytesToHex(key), [key, value]);
            }
          }
          // Built anew for each batch: its deletions go wrong where a key ends inside another.
          const other = await createMPT({ useRootPersistence: false });
          for (const [key, value] of content.values()) await other.put(key, value);
          assert.equal(bytesToHex(trie.rootHash()), bytesToHex(other.root()), label);
          if (prng.chance(0.6)) trie.save(records);
          const isSaved = prng.chance(0.5);
          if (!isSaved) continue;
          trie.save(records);
          if (prng.chance(0.5)) trie.evict(prng.between(-1, 2));
          else trie = new Trie(records);
          assert.equal(bytesToHex(trie.rootHash()), bytesToHex(other.root()), `${label} reloaded`);
        }
      }
    });
  }

  it("keeps no record of a node that is gone", () => {
    for (const { name, draw } of KEY_SHAPES) {
      const prng = new Prng(5);
      const records = new Records();
      const trie = new Trie(records);
      const content = new Map<string, [Uint8Array, Uint8Array]>();
      for (let batch = 0; batch < 40; batch++) {
        for (let index = 0; index < 20; index++) {
          const key = draw(prng);
          if (prng.chance(0.5)) {
            trie.delete(key);
            content.delete(bytesToHex(key));
          } else {
            const value = prng.bytes(prng.pick([1, 40]));
            value[0] = 9;
            trie.put(key, value);
            content.set(bytesToHex(key), [key, value]);
          }
        }
        trie.save(records);
        const fresh = new Records();
        const rebuilt = new Trie(fresh);
        for (const [key, value] of content.values()) rebuilt.put(key, value);
        rebuilt.save(fresh);
        assert.deepEqual(trie.rootHash(), rebuilt.rootHash(), `${name} batch ${batch}`);
        const paths = (from: Records): string[] => [...from.byPath.keys()].sort();
        assert.deepEqual(paths(records), paths(fresh), `${name} batch ${batch}`);
      }
    }
  });

  it("finds what was put and nothing else, loaded or not", () => {
    const records = new Records();
    const trie = new Trie(records);
    const key = (index: number): Uint8Array => keccak256(Uint8Array.of(index));
    for (let index = 0; index < 100; index++) trie.put(key(index), Uint8Array.of(1, index));
    trie.save(records);
    const reloaded = new Trie(records);
    for (let index = 0; index < 200; index++) {
      const expected = index < 100 ? Uint8Array.of(1, index) : undefined;
      assert.deepEqual(reloaded.get(key(index)), expected, `key ${index}`);
    }
    assert.equal(reloaded.loadedCount, 0, "reading keeps no nodes");
  });

  it("hands back what a change replaced, and keeps its own copy of the key", () => {
    for (const { name, draw } of KEY_SHAPES) {
      const prng = new Prng(7);
      const trie = new Trie();
      const content = new Map<string, Uint8Array>();
      const reused = new Map<number, Uint8Array>();
      for (let step = 0; step < 500; step++) {
        const key = draw(prng);
        // The caller's bytes are overwritten by the next key of the same size.
        const given = reused.get(key.length) ?? new Uint8Array(key.length);
        reused.set(key.length, given);
        given.set(key);
        const text = bytesToHex(key);
        const expected = content.get(text);
        if (prng.chance(0.4)) {
          assert.deepEqual(trie.delete(given), expected, `${name} step ${step}`);
          content.delete(text);
        } else {
          const value = Uint8Array.of(1, step & 0xff, step >> 8);
          assert.deepEqual(trie.put(given, value), expected, `${name} step ${step}`);
          content.set(text, value);
        }
        assert.deepEqual(trie.get(key), content.get(text), `${name} step ${step}`);
      }
    }
  });

  it("gives a root that later changes leave alone", () => {
    const trie = new Trie();
    trie.put(keccak256(Uint8Array.of(1)), new Uint8Array(40).fill(1));
    const root = trie.rootHash();
    const copy = root.slice();
    trie.put(keccak256(Uint8Array.of(1)), new Uint8Array(40).fill(2));
    assert.notDeepEqual(trie.rootHash(), copy);
    assert.deepEqual(root, copy);
  });

  it("is empty again when all is deleted, and leaves no record", () => {
    const records = new Records();
    const trie = new Trie(records);
    for (let index = 0; index < 50; index++) {
      trie.put(keccak256(Uint8Array.of(index)), Uint8Array.of(1));
    }
    trie.save(records);
    for (let index = 0; index < 50; index++) trie.delete(keccak256(Uint8Array.of(index)));
    trie.save(records);
    assert.equal(bytesToHex(trie.rootHash()), bytesToHex(EMPTY_TRIE_ROOT));
    assert.equal(records.byPath.size, 0);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Prng } from "../../../src/base/prng.ts";
import { WordMap } from "../../../src/state/word-map.ts";

describe("WordMap", () => {
  it("is a map, whatever the keys have in common", () => {
    const prng = new Prng(1);
    const draws = [
      (): bigint => BigInt(prng.below(3000)),
      (): bigint => BigInt(prng.below(3000)) << 64n,
      (): bigint => (BigInt(prng.below(3000)) << 128n) | 5n,
    ];
    const map = new WordMap<number>();
    const model = new Map<string, number>();
    for (let step = 0; step < 20_000; step++) {
      const key = prng.pick(draws)();
      if (prng.chance(0.5)) {
        map.set(key, step);
        model.set(String(key), step);
      }
      assert.equal(map.get(key), model.get(String(key)), `step ${step}`);
    }
    assert.equal(map.size, model.size);
    const entries = [...map.entries()].map(([key, value]) => [String(key), value] as const);
    assert.deepEqual(new Map(entries), model);
    assert.equal([...map.values()].length, model.size);
    map.clear();
    assert.equal(map.size, 0);
    assert.equal(map.get(0n), undefined);
  });

  it("gives entries in the order in which they came, whatever the secret of the process", () => {
    const prng = new Prng(2);
    const keys = Array.from({ length: 500 }, () => BigInt(prng.below(2 ** 31)) << 100n);
    const map = new WordMap<number>();
    for (const [index, key] of keys.entries()) map.set(key, index);
    for (const key of keys.toReversed()) map.set(key, -1);
    assert.deepEqual(
      [...map.entries()].map(([key]) => key),
      [...new Set(keys)],
    );
    assert.deepEqual(new Set(map.values()), new Set([-1]));
  });

  /** Sets of keys that an attacker may choose, knowing everything but the secret. */
  const COUNT = 20_000;
  const ATTACKS: readonly (readonly [string, (index: number) => bigint])[] = [
    ["that share their lowest 64 bits", (index) => BigInt(index) << 64n],
    ["that the engine's own hash maps to one number", (index) => collidingInTheEngine(index)],
    ["that differ in their highest bits", (index) => BigInt(index) << 240n],
    ["that differ in the top bits of their pieces", (index) => spread(index)],
  ];
  for (const [name, keyAt] of ATTACKS) {
    it(`stays fast for keys ${name}`, () => {
      const keys = Array.from({ length: COUNT }, (_, index) => keyAt(index));
      const map = new WordMap<number>();
      const start = process.cpuUsage();
      for (const [index, key] of keys.entries()) map.set(key, index);
      for (const key of keys) map.get(key);
      const { user } = process.cpuUsage(start);
      // A plain Map takes 4 seconds for the first two. A tenth of that is 10 us per operation.
      assert.ok(user < 400_000, `${user} us of CPU`);
      assert.equal(map.size, COUNT);
    });
  }
});

const MASK_64 = (1n << 64n) - 1n;

/** The inverse of the engine's hash of 64 bits, of a number whose lower 30 bits are all 7. */
function collidingInTheEngine(index: number): bigint {
  let hash = (BigInt(index) << 30n) | 7n;
  hash = undoShift(hash, 22n);
  hash = (hash * inverse(65n)) & MASK_64;
  hash = undoShift(hash, 11n);
  hash = (hash * inverse(21n)) & MASK_64;
  hash = undoShift(hash, 31n);
  return ((hash + 1n) * inverse((1n << 18n) - 1n)) & MASK_64;
}

function undoShift(hash: bigint, shift: bigint): bigint {
  let word = hash;
  for (let known = shift; known < 64n; known += shift) word = hash ^ (word >> shift);
  return word;
}

/** Modulo 2^64, by Newton's method. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let round = 0; round < 6; round++) found = (found * (2n - odd * found)) & MASK_64;
  return found;
}

/** Bit i of the index becomes the top bit of the i-th piece of 16 bits. */
function spread(index: number): bigint {
  let word = 0n;
  for (let bit = 0; bit < 15; bit++) {
    if (((index >>> bit) & 1) === 1) word |= 1n << BigInt(16 * bit + 15);
  }
  return word;
}

import { invariant } from "./invariant.ts";

/**
 * Seeded pseudo-random numbers (xoshiro128**, seeded by splitmix32): equal seeds give equal
 * sequences on every machine. For simulation, jitter and sampling; never for keys or nonces.
 */
export class Prng {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    invariant(Number.isSafeInteger(seed), "a seed is a safe integer");
    this.#state = new Uint32Array(4);
    let word = (seed ^ Math.floor(seed / 0x1_0000_0000)) >>> 0;
    for (let index = 0; index < 4; index++) {
      word = (word + 0x9e3779b9) >>> 0;
      let mixed = word ^ (word >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      this.#state[index] = (mixed ^ (mixed >>> 15)) >>> 0;
    }
  }

  /** Uniform over 0 .. 2^32-1. */
  uint32(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, d = 0] = state;
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const c2 = c ^ a;
    const d2 = d ^ b;
    state[1] = b ^ c2;
    state[0] = a ^ d2;
    state[2] = c2 ^ (b << 9);
    state[3] = rotateLeft(d2, 11);
    return result;
  }

  /** Uniform over 0 .. limit-1. The bias is below 2^-20 for limits under 4096. */
  below(limit: number): number {
    invariant(limit > 0 && limit <= 0x1_0000_0000, "the limit is in 1 .. 2^32");
    return Math.floor((this.uint32() / 0x1_0000_0000) * limit);
  }

  /** Uniform over the integers low .. high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.uint32() / 0x1_0000_0000 < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    invariant(item !== undefined, "pick needs at least one item");
    return item;
  }

  /** A new array in random order. */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const shuffled = items.slice();
    for (let index = shuffled.length - 1; index > 0; index--) {
      const other = this.below(index + 1);
      const held = shuffled[index] as Item;
      shuffled[index] = shuffled[other] as Item;
      shuffled[other] = held;
    }
    return shuffled;
  }

  bytes(size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    for (let index = 0; index < size; index++) bytes[index] = this.uint32() & 0xff;
    return bytes;
  }

  /** An independent generator: what one part draws does not shift what another part sees. */
  fork(): Prng {
    return new Prng(this.uint32() * 0x20_0000 + (this.uint32() >>> 11));
  }
}

function rotateLeft(word: number, count: number): number {
  return ((word << count) | (word >>> (32 - count))) >>> 0;
}

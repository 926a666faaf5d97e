import { keyedWordHash } from "../crypto/keyed-word-hash.ts";

/** Up to here comparing one key after the other is faster than hashing. */
const SCANNED_SIZE_MAX = 8;
const TABLE_SIZE_MIN = 32;

/**
 * A map from words (addresses, slots) that chosen keys cannot make slow. The engine hashes a bigint
 * by its lowest 64 bits and with no secret: a contract that touches slots made for it turns a plain
 * Map into one long chain (measured: 100 us per lookup at 20,000 slots k * 2^64). Here the hash has
 * a secret key. Entries are kept in insertion order, and only where they are found depends on the
 * key: the map behaves the same in every process.
 */
export class WordMap<Value> {
  #keys: bigint[] = [];
  #values: Value[] = [];
  /** Open addressing, at most half full: an entry's number plus 1, or 0. Empty for small maps. */
  #table = NO_TABLE;
  /** How far a hash is shifted to be a place in the table. */
  #shift = 0;

  get size(): number {
    return this.#keys.length;
  }

  get(key: bigint): Value | undefined {
    const index = this.#table.length === 0 ? this.#scan(key) : this.#find(key);
    return index < 0 ? undefined : this.#values[index];
  }

  set(key: bigint, value: Value): void {
    const index = this.#table.length === 0 ? this.#scan(key) : this.#find(key);
    if (index >= 0) {
      this.#values[index] = value;
      return;
    }
    this.#keys.push(key);
    this.#values.push(value);
    const size = this.#keys.length;
    if (size <= SCANNED_SIZE_MAX) return;
    if (2 * size > this.#table.length) this.#grow();
    else this.#table[-1 - index] = size;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#table = NO_TABLE;
  }

  /** In the order in which they came; sort what is to be hashed or compared all the same. */
  *entries(): Generator<[bigint, Value]> {
    for (const [index, value] of this.#values.entries()) yield [this.#keys[index] ?? 0n, value];
  }

  *values(): Generator<Value> {
    yield* this.#values;
  }

  #scan(key: bigint): number {
    const keys = this.#keys;
    for (let index = 0; index < keys.length; index++) if (keys[index] === key) return index;
    return -1;
  }

  /** The number of the entry, or -1 less the place in the table that is free for it. */
  #find(key: bigint): number {
    const table = this.#table;
    const keys = this.#keys;
    const mask = table.length - 1;
    let place = keyedWordHash(key) >>> this.#shift;
    for (;;) {
      const index = (table[place] ?? 0) - 1;
      if (index < 0) return -1 - place;
      if (keys[index] === key) return index;
      place = (place + 1) & mask;
    }
  }

  #grow(): void {
    const size = Math.max(TABLE_SIZE_MIN, 2 * this.#table.length);
    const table = new Int32Array(size);
    const mask = size - 1;
    this.#shift = Math.clz32(mask);
    this.#table = table;
    for (const [index, key] of this.#keys.entries()) {
      let place = keyedWordHash(key) >>> this.#shift;
      while (table[place] !== 0) place = (place + 1) & mask;
      table[place] = index + 1;
    }
  }
}

const NO_TABLE = new Int32Array(0);

/** A smaller table cannot hold a chain that is worth guarding against. */
const GUARDED_SIZE_MIN = 64;
/** Keys are counted by their lowest 12 bits: fewer counters than keys, and bounded. */
const COUNTER_BITS = 12;
const COUNTER_COUNT = 1 << COUNTER_BITS;
/** How many times the expected count, and how many besides, are taken as accident. */
const ACCIDENT_FACTOR = 8;

/**
 * A map from words (addresses, slots) that nobody can make slow. The engine hashes a bigint by its
 * lowest 64 bits only, with no secret: a contract that touches slots k * 2^64 would turn a plain
 * Map into one long chain (measured: 100 us per lookup at 20,000 such slots). Here keys that pile
 * up go to a second table under their text, which the engine hashes with a secret.
 */
export class WordMap<Value> {
  readonly #words = new Map<bigint, Value>();
  /** Made when the first key goes there: hardly any map needs it, and there are many maps. */
  #texts: Map<string, Value> | undefined;
  /** Entries of #words by their lowest bits; made when the map has grown. */
  #counters: Uint32Array | undefined;

  get size(): number {
    return this.#words.size + (this.#texts?.size ?? 0);
  }

  get(key: bigint): Value | undefined {
    const value = this.#words.get(key);
    if (value !== undefined || this.#texts === undefined) return value;
    return this.#texts.get(key.toString(16));
  }

  set(key: bigint, value: Value): void {
    const size = this.#words.size;
    if (size < GUARDED_SIZE_MIN || this.#words.has(key)) {
      this.#words.set(key, value);
      return;
    }
    const counters = this.#counters ?? this.#count();
    const counter = counterOf(key);
    const count = counters[counter] ?? 0;
    if (count > ACCIDENT_FACTOR * (1 + size / COUNTER_COUNT)) {
      this.#texts ??= new Map();
      this.#texts.set(key.toString(16), value);
      return;
    }
    counters[counter] = count + 1;
    this.#words.set(key, value);
  }

  clear(): void {
    this.#words.clear();
    this.#texts = undefined;
    this.#counters = undefined;
  }

  /** In no order that means anything: sort what is to be hashed or compared. */
  *entries(): Generator<[bigint, Value]> {
    yield* this.#words;
    if (this.#texts === undefined) return;
    for (const [text, value] of this.#texts) yield [BigInt(`0x${text}`), value];
  }

  *values(): Generator<Value> {
    yield* this.#words.values();
    if (this.#texts !== undefined) yield* this.#texts.values();
  }

  #count(): Uint32Array {
    const counters = new Uint32Array(COUNTER_COUNT);
    for (const key of this.#words.keys()) {
      const counter = counterOf(key);
      counters[counter] = (counters[counter] ?? 0) + 1;
    }
    this.#counters = counters;
    return counters;
  }
}

function counterOf(key: bigint): number {
  return Number(BigInt.asUintN(COUNTER_BITS, key));
}

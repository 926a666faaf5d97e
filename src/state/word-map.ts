/** Above this many entries of equal lowest 64 bits the rest go to the second table. */
const CHAIN_MAX = 8;
/** A smaller table cannot hold a chain that is worth guarding against. */
const GUARDED_SIZE_MIN = 64;

/**
 * A map from words (addresses, slots) that nobody can make slow. The engine hashes a bigint by its
 * lowest 64 bits only, with no secret: a contract that touches slots k * 2^64 would turn a plain
 * Map into one long chain (measured: 100 us per lookup at 20,000 such slots). Here such keys go
 * to a second table under their text, which the engine hashes with a secret.
 */
export class WordMap<Value> {
  readonly #words = new Map<bigint, Value>();
  readonly #texts = new Map<string, Value>();
  /** Entries of #words by their lowest 64 bits; made when the map has grown. */
  #chains: Map<bigint, number> | undefined;

  get size(): number {
    return this.#words.size + this.#texts.size;
  }

  get(key: bigint): Value | undefined {
    const value = this.#words.get(key);
    if (value !== undefined || this.#texts.size === 0) return value;
    return this.#texts.get(key.toString(16));
  }

  set(key: bigint, value: Value): void {
    if (this.#words.size < GUARDED_SIZE_MIN) {
      this.#words.set(key, value);
      return;
    }
    const chains = this.#chains ?? this.#countChains();
    const low = BigInt.asUintN(64, key);
    const length = chains.get(low) ?? 0;
    if (this.#words.has(key)) this.#words.set(key, value);
    else if (length >= CHAIN_MAX) this.#texts.set(key.toString(16), value);
    else {
      chains.set(low, length + 1);
      this.#words.set(key, value);
    }
  }

  clear(): void {
    this.#words.clear();
    this.#texts.clear();
    this.#chains = undefined;
  }

  /** In no order that means anything: sort what is to be hashed or compared. */
  *entries(): Generator<[bigint, Value]> {
    yield* this.#words;
    for (const [text, value] of this.#texts) yield [BigInt(`0x${text}`), value];
  }

  *values(): Generator<Value> {
    yield* this.#words.values();
    yield* this.#texts.values();
  }

  #countChains(): Map<bigint, number> {
    const chains = new Map<bigint, number>();
    for (const key of this.#words.keys()) {
      const low = BigInt.asUintN(64, key);
      chains.set(low, (chains.get(low) ?? 0) + 1);
    }
    this.#chains = chains;
    return chains;
  }
}

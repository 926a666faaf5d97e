import type { WasmCall } from "../wasm/wasm-instance.ts";
import { QuadraticField, type Pair } from "./extension-field.ts";
import type { PairingEngine } from "./pairing-engine.ts";
import type { G1Affine } from "./pairing-product.ts";

export type G1Term = { readonly point: G1Affine; readonly scalar: bigint };

type G1Rules = {
  /** A cube root of one in the prime field: (x, y) -> (beta x, y) is a multiplication. */
  readonly beta: bigint;
  /** a and b of about half the length with scalar = a + b lambda, lambda what beta stands for. */
  splitScalar(scalar: bigint): Pair;
};

const COORDINATES = 3;
const WINDOW_BITS = 4;
const TABLE_ENTRIES = 1 << WINDOW_BITS;
/** Halves of scalars are below 2^132. */
const WINDOW_COUNT = 33;
/** Memory holds the tables of so many terms at once. */
const BATCH_TERMS_MAX = 64;

/**
 * Points over the prime field, two at a time: each lane of an element is a curve of its own. A
 * multiplication runs the halves of its scalar on the point and on its image under beta.
 */
export class G1Group {
  readonly #engine: PairingEngine;
  readonly #rules: G1Rules;
  readonly #field: QuadraticField;
  readonly add: WasmCall;
  readonly #double: WasmCall;
  readonly #join: WasmCall;
  readonly #infinity: number;

  constructor(engine: PairingEngine, rules: G1Rules) {
    this.#engine = engine;
    this.#rules = rules;
    this.#field = new QuadraticField(engine.prime);
    this.add = engine.function("laneAdd");
    this.#double = engine.function("laneDouble");
    this.#join = engine.function("join");
    this.#infinity = this.#write([0n, 0n], [1n, 1n], [0n, 0n]);
  }

  /** The sum of the points times their scalars; undefined is infinity. */
  multiplySum(terms: readonly G1Term[]): G1Affine | undefined {
    const mark = this.#engine.mark();
    const total = this.#copyOf(this.#infinity);
    for (let start = 0; start < terms.length; start += BATCH_TERMS_MAX) {
      const batchMark = this.#engine.mark();
      const batch = this.#multiplyBatch(terms.slice(start, start + BATCH_TERMS_MAX));
      this.add(total, total, batch);
      this.#engine.release(batchMark);
    }
    const crossed = this.#engine.allocate(COORDINATES);
    this.#each((offset) => this.#engine.function("swap")(crossed + offset, total + offset));
    this.add(total, total, crossed);
    const sum = this.readAffine(total);
    this.#engine.release(mark);
    return sum;
  }

  /** Whether factor * factor * P is minus the image of P under beta, for each of the points. */
  areImagesOfSquare(points: readonly G1Affine[], factor: bigint): boolean {
    for (let index = 0; index < points.length; index += 2) {
      const first = points[index];
      if (first === undefined) continue;
      if (!this.#isImageOfSquare(first, points[index + 1] ?? first, factor)) return false;
    }
    return true;
  }

  #isImageOfSquare(a: G1Affine, b: G1Affine, factor: bigint): boolean {
    const engine = this.#engine;
    const mark = engine.mark();
    const { beta } = this.#rules;
    const { prime } = engine;
    const image = this.#write(
      [(a.x * beta) % prime, (b.x * beta) % prime],
      [prime - a.y, prime - b.y],
      [1n, 1n],
    );
    const once = this.times(this.#write([a.x, b.x], [a.y, b.y], [1n, 1n]), factor);
    const twice = this.times(once, factor);
    const difference = engine.allocate(2);
    engine.function("laneDifference")(difference, twice, image);
    const isZero = [0, engine.elementSize].every((offset) => engine.isZero(difference + offset));
    engine.release(mark);
    return isZero;
  }

  /** Both lanes by one public factor. */
  times(point: number, factor: bigint): number {
    const multiple = this.#copyOf(point);
    for (const digit of factor.toString(2).slice(1)) {
      this.#double(multiple, multiple);
      if (digit === "1") this.add(multiple, multiple, point);
    }
    return multiple;
  }

  #multiplyBatch(terms: readonly G1Term[]): number {
    const prepared = terms.map(({ point, scalar }) => {
      const [a, b] = this.#rules.splitScalar(scalar);
      return { table: this.#table(point, a < 0n, b < 0n), first: digits(a), second: digits(b) };
    });
    const accumulator = this.#copyOf(this.#infinity);
    const joined = this.#engine.allocate(COORDINATES);
    const entrySize = COORDINATES * this.#engine.elementSize;
    let isStarted = false;
    for (let window = WINDOW_COUNT - 1; window >= 0; window--) {
      // Until the first digit the sum is infinity, whose doublings may be left out.
      for (let bit = 0; isStarted && bit < WINDOW_BITS; bit++) {
        this.#double(accumulator, accumulator);
      }
      for (const { table, first, second } of prepared) {
        const a = first[window] ?? 0;
        const b = second[window] ?? 0;
        if (a === 0 && b === 0) continue;
        isStarted = true;
        this.#each((offset) => {
          this.#join(
            joined + offset,
            table + a * entrySize + offset,
            table + b * entrySize + offset,
          );
        });
        this.add(accumulator, accumulator, joined);
      }
    }
    return accumulator;
  }

  /** 0 .. 15 times the point in one lane and its image in the other, each with its sign. */
  #table({ x, y }: G1Affine, isFirstNegative: boolean, isSecondNegative: boolean): number {
    const { prime, elementSize } = this.#engine;
    const entrySize = COORDINATES * elementSize;
    const negated = (prime - y) % prime;
    const table = this.#copyOf(this.#infinity);
    const base = this.#write(
      [x, (x * this.#rules.beta) % prime],
      [isFirstNegative ? negated : y, isSecondNegative ? negated : y],
      [1n, 1n],
    );
    for (let entry = 2; entry < TABLE_ENTRIES; entry++) {
      const place = this.#engine.allocate(COORDINATES);
      if (entry % 2 === 0) this.#double(place, table + (entry / 2) * entrySize);
      else this.add(place, place - entrySize, base);
    }
    return table;
  }

  /** One point in both lanes. */
  writeBoth(x: bigint, y: bigint, z: bigint): number {
    return this.#write([x, x], [y, y], [z, z]);
  }

  /** The point of the first lane; undefined is infinity. */
  readAffine(point: number): G1Affine | undefined {
    const size = this.#engine.elementSize;
    const [z] = this.#engine.read(point + 2 * size);
    if (z === 0n) return undefined;
    const inverse = this.#field.invertPrime(z);
    const [x] = this.#engine.read(point);
    const [y] = this.#engine.read(point + size);
    return { x: this.#field.reduce(x * inverse), y: this.#field.reduce(y * inverse) };
  }

  #write(x: Pair, y: Pair, z: Pair): number {
    const address = this.#engine.allocate(COORDINATES);
    const size = this.#engine.elementSize;
    this.#engine.write(address, x);
    this.#engine.write(address + size, y);
    this.#engine.write(address + 2 * size, z);
    return address;
  }

  #copyOf(point: number): number {
    const copy = this.#engine.allocate(COORDINATES);
    this.#engine.copy(copy, point, COORDINATES);
    return copy;
  }

  #each(visit: (offset: number) => void): void {
    for (let index = 0; index < COORDINATES; index++) visit(index * this.#engine.elementSize);
  }
}

/** Windows of the absolute value, least significant first. */
function digits(value: bigint): Uint8Array {
  const windows = new Uint8Array(WINDOW_COUNT);
  const text = (value < 0n ? -value : value).toString(16);
  for (let index = 0; index < text.length; index++) {
    windows[index] = Number.parseInt(text[text.length - 1 - index] ?? "0", 16);
  }
  return windows;
}

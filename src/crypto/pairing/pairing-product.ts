import type { WasmCall } from "../wasm/wasm-instance.ts";
import { QuadraticField, type Pair } from "./extension-field.ts";
import type { PairingEngine } from "./pairing-engine.ts";

export type G1Affine = { readonly x: bigint; readonly y: bigint };
export type G2Affine = { readonly x: Pair; readonly y: Pair };
export type PointPair = { readonly g1: G1Affine; readonly g2: G2Affine };

/** The places of one pair in memory: T runs along the multiples of Q. */
type LoopPair = {
  readonly point: number;
  readonly running: number;
  readonly base: number;
  readonly negatedBase: number;
};

export type PairingRules = {
  /** Digits (-1, 0, 1) of the loop's count after its leading one, most significant first. */
  readonly loopDigits: readonly number[];
  /** What follows the loop: more lines, or a conjugation. */
  finishLoop(product: PairingProduct, accumulator: number, pairs: readonly LoopPair[]): void;
  /** From f, whose norm is one, to f ** (m (p^4 - p^2 + 1) / r) with m prime to r, in place. */
  hardPart(product: PairingProduct, f: number): void;
};

/** Pairs walked through the loop together: they share its squarings, and memory bounds them. */
const BATCH_PAIRS_MAX = 64;
const TWELVE = 6;

/** Whether a product of pairings is one, and the arithmetic that the curves' rules are told in. */
export class PairingProduct {
  readonly engine: PairingEngine;
  readonly lineAdd: WasmCall;
  readonly #rules: PairingRules;
  readonly #field: QuadraticField;
  readonly #lineDouble: WasmCall;
  readonly #multiply: WasmCall;
  readonly #square: WasmCall;
  readonly #squareCyclotomic: WasmCall;
  readonly #conjugate: WasmCall;
  readonly #frobenius: WasmCall;
  readonly #frobeniusFactors: number;

  constructor(engine: PairingEngine, xi: Pair, rules: PairingRules) {
    this.engine = engine;
    this.#rules = rules;
    this.#field = new QuadraticField(engine.prime);
    this.lineAdd = engine.function("lineAdd");
    this.#lineDouble = engine.function("lineDouble");
    this.#multiply = engine.function("twelveMultiply");
    this.#square = engine.function("twelveSquare");
    this.#squareCyclotomic = engine.function("twelveSquareCyclotomic");
    this.#conjugate = engine.function("twelveConjugate");
    this.#frobenius = engine.function("twelveFrobenius");
    this.#frobeniusFactors = engine.allocate(TWELVE);
    // The coefficients stand in the order 1, w^2, w^4, w, w^3, w^5.
    [0n, 2n, 4n, 1n, 3n, 5n].forEach((degree, index) => {
      const factor = this.#field.power(xi, (degree * (engine.prime - 1n)) / 6n);
      engine.write(this.#frobeniusFactors + index * engine.elementSize, factor);
    });
  }

  isOne(pairs: readonly PointPair[]): boolean {
    const mark = this.engine.mark();
    const total = this.#one();
    for (let start = 0; start < pairs.length; start += BATCH_PAIRS_MAX) {
      const batchMark = this.engine.mark();
      const accumulator = this.#loop(pairs.slice(start, start + BATCH_PAIRS_MAX));
      this.#multiply(total, total, accumulator);
      this.engine.release(batchMark);
    }
    this.#easyPart(total);
    this.#rules.hardPart(this, total);
    const isOne = this.#isOne(total);
    this.engine.release(mark);
    return isOne;
  }

  twelve(): number {
    return this.engine.allocate(TWELVE);
  }

  multiply(target: number, a: number, b: number): void {
    this.#multiply(target, a, b);
  }

  square(target: number, source: number): void {
    this.#squareCyclotomic(target, source);
  }

  conjugate(target: number, source: number): void {
    this.#conjugate(target, source);
  }

  frobenius(target: number, source: number, power: number): void {
    this.#frobenius(target, source, this.#frobeniusFactors);
    for (let count = 1; count < power; count++) {
      this.#frobenius(target, target, this.#frobeniusFactors);
    }
  }

  /** source ** exponent for an element of norm one; the target is another place. */
  power(target: number, source: number, exponent: bigint): void {
    this.#copy(target, source);
    for (const digit of exponent.toString(2).slice(1)) {
      this.#squareCyclotomic(target, target);
      if (digit === "1") this.#multiply(target, target, source);
    }
  }

  #loop(pairs: readonly PointPair[]): number {
    const accumulator = this.#one();
    const placed = pairs.map((pair) => this.#place(pair));
    for (const digit of this.#rules.loopDigits) {
      this.#square(accumulator, accumulator);
      for (const { running, point } of placed) this.#lineDouble(accumulator, running, point);
      if (digit === 0) continue;
      for (const { running, point, base, negatedBase } of placed) {
        this.lineAdd(accumulator, running, point, digit > 0 ? base : negatedBase);
      }
    }
    this.#rules.finishLoop(this, accumulator, placed);
    return accumulator;
  }

  #place({ g1, g2 }: PointPair): LoopPair {
    const { engine } = this;
    const size = engine.elementSize;
    const point = engine.allocate(2);
    const running = engine.allocate(3);
    const negatedBase = engine.allocate(2);
    engine.write(point, [g1.x, g1.x]);
    engine.write(point + size, [g1.y, g1.y]);
    engine.write(running, g2.x);
    engine.write(running + size, g2.y);
    engine.write(running + 2 * size, [1n, 0n]);
    const base = engine.allocate(2);
    engine.copy(base, running, 2);
    engine.copy(negatedBase, running, 2);
    engine.negate(negatedBase + size, negatedBase + size);
    return { point, running, base, negatedBase };
  }

  /** f ** ((p^6 - 1) (p^2 + 1)). */
  #easyPart(f: number): void {
    const mark = this.engine.mark();
    const inverse = this.twelve();
    const work = this.engine.allocate(4);
    const normAddress = work + 3 * this.engine.elementSize;
    this.engine.function("twelveInverseStart")(work, f);
    this.engine.write(normAddress, this.#field.invert(this.engine.read(normAddress)));
    this.engine.function("twelveInverseFinish")(inverse, f, work);
    this.#conjugate(f, f);
    this.#multiply(f, f, inverse);
    this.frobenius(inverse, f, 2);
    this.#multiply(f, f, inverse);
    this.engine.release(mark);
  }

  #one(): number {
    const address = this.twelve();
    for (let index = 0; index < TWELVE; index++) {
      this.engine.write(address + index * this.engine.elementSize, [index === 0 ? 1n : 0n, 0n]);
    }
    return address;
  }

  #isOne(address: number): boolean {
    for (let index = 0; index < TWELVE; index++) {
      const [real, imaginary] = this.engine.read(address + index * this.engine.elementSize);
      if (real !== (index === 0 ? 1n : 0n) || imaginary !== 0n) return false;
    }
    return true;
  }

  #copy(target: number, source: number): void {
    this.engine.copy(target, source, TWELVE);
  }
}

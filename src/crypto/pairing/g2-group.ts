import type { WasmCall } from "../wasm/wasm-instance.ts";
import { QuadraticField, type Pair } from "./extension-field.ts";
import type { PairingEngine } from "./pairing-engine.ts";
import type { G2Affine } from "./pairing-product.ts";

const COORDINATES = 3;

/** Points of the twist, in memory. A point is an address of three elements. */
export class G2Group {
  readonly engine: PairingEngine;
  readonly infinity: number;
  readonly add: WasmCall;
  readonly double: WasmCall;
  readonly field: QuadraticField;
  readonly #frobenius: WasmCall;
  readonly #factors: number;

  /** `factors`: what the conjugated coordinates are multiplied with in the p-power map. */
  constructor(engine: PairingEngine, factors: readonly [Pair, Pair]) {
    this.engine = engine;
    this.field = new QuadraticField(engine.prime);
    this.add = engine.function("twistAdd");
    this.double = engine.function("twistDouble");
    this.#frobenius = engine.function("twistFrobenius");
    this.#factors = engine.allocate(2);
    engine.write(this.#factors, factors[0]);
    engine.write(this.#factors + engine.elementSize, factors[1]);
    this.infinity = this.allocate();
    engine.write(this.infinity, [0n, 0n]);
    engine.write(this.infinity + engine.elementSize, [1n, 0n]);
    engine.write(this.infinity + 2 * engine.elementSize, [0n, 0n]);
  }

  allocate(): number {
    return this.engine.allocate(COORDINATES);
  }

  write({ x, y }: G2Affine): number {
    const address = this.allocate();
    const size = this.engine.elementSize;
    this.engine.write(address, x);
    this.engine.write(address + size, y);
    this.engine.write(address + 2 * size, [1n, 0n]);
    return address;
  }

  copyOf(point: number): number {
    const copy = this.allocate();
    this.engine.copy(copy, point, COORDINATES);
    return copy;
  }

  frobenius(target: number, source: number): void {
    this.#frobenius(target, source, this.#factors);
  }

  negate(target: number, source: number): void {
    const size = this.engine.elementSize;
    if (target !== source) this.engine.copy(target, source, COORDINATES);
    this.engine.negate(target + size, source + size);
  }

  times(point: number, factor: bigint): number {
    const multiple = this.copyOf(point);
    for (const digit of factor.toString(2).slice(1)) {
      this.double(multiple, multiple);
      if (digit === "1") this.add(multiple, multiple, point);
    }
    return multiple;
  }

  isEqual(a: number, b: number): boolean {
    const { engine } = this;
    const mark = engine.mark();
    const difference = engine.allocate(2);
    engine.function("twistDifference")(difference, a, b);
    const isEqual = [0, engine.elementSize].every((offset) => engine.isZero(difference + offset));
    engine.release(mark);
    return isEqual;
  }

  /** Undefined is infinity. */
  read(point: number): G2Affine | undefined {
    const size = this.engine.elementSize;
    const z = this.engine.read(point + 2 * size);
    if (z[0] === 0n && z[1] === 0n) return undefined;
    const inverse = this.field.invert(z);
    return {
      x: this.field.multiply(this.engine.read(point), inverse),
      y: this.field.multiply(this.engine.read(point + size), inverse),
    };
  }
}

import { invariant } from "../../base/invariant.ts";
import {
  isBelow,
  isZeroLimbs,
  limbsOf,
  normaliseLimbs,
  readLimbs,
  writeLimbs,
  type LimbPlace,
} from "../modular/limb-bytes.ts";
import { createModularInverse, type ModularInverse } from "../modular/modular-inverse.ts";
import { CONSTANTS_SIZE, WasmAssembler } from "../wasm/wasm-assembler.ts";
import { instantiateWasm, type WasmCall } from "../wasm/wasm-instance.ts";
import { QuadraticField, type Pair } from "./extension-field.ts";
import { FieldLibrary, type TowerShape } from "./field-program.ts";
import { definePairing, type Twist } from "./pairing-programs.ts";

type CurveShape = TowerShape & {
  readonly twist: Twist;
  /** 3b of the curve over the prime field. */
  readonly threeB: number;
};

const SCRATCH_SIZE = 0x1_0000;
const HEAP_SIZE = 0x10_0000;
/** Elements that stay for good: factors of Frobenius and the like. */
const KEPT_ELEMENTS_MAX = 64;

/**
 * A curve family's WebAssembly instance: memory in which elements live, moved in and out of
 * Montgomery form here, and the functions of pairing-programs.ts by name.
 */
export class PairingEngine {
  readonly prime: bigint;
  readonly elementSize: number;
  readonly #limbs: Float64Array;
  readonly #limbCount: number;
  readonly #limbBits: number;
  readonly #multiplyLanes: WasmCall;
  readonly #negate: WasmCall;
  readonly #calls: (name: string) => WasmCall;
  readonly #known = new Map<string, WasmCall>();
  readonly #radixSquared: number;
  readonly #plainOne: number;
  readonly #primeLimbs: Float64Array;
  readonly #inverse: ModularInverse;
  readonly #inverseBytes = new Uint8Array(48);
  #top: number;

  constructor(shape: CurveShape) {
    const size = LANE_SIZE * shape.limbCount;
    const keptEnd = CONSTANTS_SIZE + KEPT_ELEMENTS_MAX * size;
    const assembler = new WasmAssembler(keptEnd + SCRATCH_SIZE + HEAP_SIZE);
    const library = new FieldLibrary(assembler, shape, keptEnd + HEAP_SIZE);
    const { twist, threeB } = shape;
    const threeTwistBAddress = CONSTANTS_SIZE;
    definePairing(library, { twist, threeB, threeTwistBAddress });
    const instance = instantiateWasm(assembler.encode());
    this.prime = shape.prime;
    this.elementSize = size;
    this.#limbs = new Float64Array(instance.memory);
    this.#limbCount = shape.limbCount;
    this.#primeLimbs = limbsOf(shape.prime, shape.limbCount, shape.limbBits);
    this.#inverse = createModularInverse(shape.prime);
    this.#limbBits = shape.limbBits;
    this.#multiplyLanes = instance.function("multiplyLanes");
    this.#negate = instance.function("scale-1");
    this.#calls = (name) => instance.function(name);
    this.#top = CONSTANTS_SIZE;
    const radix = 1n << BigInt(shape.limbCount * shape.limbBits);
    const kept = this.allocate(1);
    this.#radixSquared = this.allocate(1);
    this.#plainOne = this.allocate(1);
    const square = (radix * radix) % shape.prime;
    this.#writeLimbs(this.#radixSquared, square, square);
    this.#writeLimbs(this.#plainOne, 1n, 1n);
    this.write(kept, this.#threeTwistB(shape));
  }

  /** Looked up once per name: an export is found slowly. */
  function(name: string): WasmCall {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const call = this.#calls(name);
    this.#known.set(name, call);
    return call;
  }

  /** Room for so many elements in a row, until `release`. */
  allocate(count: number): number {
    const address = this.#top;
    this.#top += count * this.elementSize;
    invariant(this.#top <= this.#limbs.byteLength - SCRATCH_SIZE, "the curve heap is full");
    return address;
  }

  mark(): number {
    return this.#top;
  }

  /** Frees what was allocated since the mark. */
  release(mark: number): void {
    this.#top = mark;
  }

  /** Values are below the prime and not negative. */
  write(address: number, [first, second]: Pair): void {
    this.#writeLimbs(address, first, second);
    this.#multiplyLanes(address, address, this.#radixSquared);
  }

  copy(target: number, source: number, count: number): void {
    const size = (count * this.elementSize) / 8;
    this.#limbs.copyWithin(target / 8, source / 8, source / 8 + size);
  }

  negate(target: number, source: number): void {
    this.#negate(target, source);
  }

  read(address: number): Pair {
    const plain = this.allocate(1);
    this.#multiplyLanes(plain, address, this.#plainOne);
    const values: Pair = [this.#readLane(plain, 0), this.#readLane(plain, 1)];
    this.release(plain);
    return values;
  }

  isZero(address: number): boolean {
    const plain = this.allocate(1);
    this.leave(plain, address);
    this.release(plain);
    return this.isZeroLane(plain, 0) && this.isZeroLane(plain, 1);
  }

  /**
   * One coefficient from big-endian bytes, not yet in Montgomery form: `enter` brings both there.
   * False if the number is not below the prime.
   */
  load(address: number, lane: number, bytes: Uint8Array, offset: number, size: number): boolean {
    const place = this.#lanePlace(address, lane);
    return readLimbs(place, bytes, offset, size) && isBelow(place, this.#primeLimbs);
  }

  enter(address: number): void {
    this.#multiplyLanes(address, address, this.#radixSquared);
  }

  /** Out of Montgomery form, both coefficients in 0 .. prime-1. */
  leave(target: number, source: number): void {
    this.#multiplyLanes(target, source, this.#plainOne);
    normaliseLimbs(this.#lanePlace(target, 0), this.#primeLimbs);
    normaliseLimbs(this.#lanePlace(target, 1), this.#primeLimbs);
  }

  /** A coefficient of an element that has left Montgomery form. */
  save(address: number, lane: number, bytes: Uint8Array, offset: number, size: number): void {
    writeLimbs(this.#lanePlace(address, lane), bytes, offset, size);
  }

  isZeroLane(address: number, lane: number): boolean {
    return isZeroLimbs(this.#lanePlace(address, lane));
  }

  /** The inverse of the first coefficient, which is not zero, in both coefficients. */
  invert(target: number, source: number): void {
    this.leave(target, source);
    this.save(target, 0, this.#inverseBytes, 0, this.#inverseBytes.length);
    this.#inverse(this.#inverseBytes);
    this.load(target, 0, this.#inverseBytes, 0, this.#inverseBytes.length);
    this.load(target, 1, this.#inverseBytes, 0, this.#inverseBytes.length);
    this.enter(target);
  }

  /** source ** exponent with the given product, four bits at a time; exponents are positive. */
  power(target: number, source: number, exponent: bigint, multiply: WasmCall): void {
    const mark = this.mark();
    const digits = Array.from(exponent.toString(16), (digit) => Number.parseInt(digit, 16));
    const table = this.allocate(16);
    this.copy(table + this.elementSize, source, 1);
    for (let entry = 2; entry < 16; entry++) {
      const place = table + entry * this.elementSize;
      multiply(place, place - this.elementSize, source);
    }
    this.copy(target, table + (digits[0] ?? 1) * this.elementSize, 1);
    for (const digit of digits.slice(1)) {
      for (let bit = 0; bit < 4; bit++) multiply(target, target, target);
      if (digit !== 0) multiply(target, target, table + digit * this.elementSize);
    }
    this.release(mark);
  }

  #lanePlace(address: number, lane: number): LimbPlace {
    const [limbs, count, bits] = [this.#limbs, this.#limbCount, this.#limbBits];
    return { limbs, start: address / 8 + lane, stride: 2, count, bits };
  }

  #writeLimbs(address: number, first: bigint, second: bigint): void {
    const bits = BigInt(this.#limbBits);
    const start = address / 8;
    for (let limb = 0; limb < this.#limbCount; limb++) {
      const shift = bits * BigInt(limb);
      this.#limbs[start + 2 * limb] = Number(BigInt.asUintN(this.#limbBits, first >> shift));
      this.#limbs[start + 2 * limb + 1] = Number(BigInt.asUintN(this.#limbBits, second >> shift));
    }
  }

  #readLane(address: number, lane: number): bigint {
    let value = 0n;
    for (let limb = this.#limbCount - 1; limb >= 0; limb--) {
      const digit = this.#limbs[address / 8 + 2 * limb + lane] ?? 0;
      value = (value << BigInt(this.#limbBits)) + BigInt(digit);
    }
    const rest = value % this.prime;
    return rest < 0n ? rest + this.prime : rest;
  }

  /** 3b/xi. */
  #threeTwistB(shape: CurveShape): Pair {
    const c = BigInt(shape.xiReal);
    const field = new QuadraticField(shape.prime);
    return field.multiply([BigInt(shape.threeB), 0n], field.invert([c, 1n]));
  }
}

const LANE_SIZE = 16;

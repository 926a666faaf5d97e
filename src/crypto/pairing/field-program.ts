import { invariant } from "../../base/invariant.ts";
import type { Local, WasmAssembler, WasmFunction } from "../wasm/wasm-assembler.ts";
import { defineField, LANE_PAIR_SIZE, type FieldFunctions, type FieldShape } from "./fp2-kernel.ts";

/** An element in memory: at a constant address, or at a constant distance from a parameter. */
export type Element = {
  readonly base: Local | undefined;
  readonly offset: number;
  /** How many balanced elements it may be the sum of. Without carries, limbs grow with it. */
  readonly weight: number;
  /** How many times the prime its value may be, up or down. Only products and `settle` shrink it. */
  readonly size: number;
};

/**
 * What is moved into Montgomery form is the result of a product, and may be a bit over the prime.
 */
const PARAMETER_SIZE = 1.1;

/** Half the prime, and what rounding by the top limb alone leaves. */
const SETTLED_SIZE = 0.51;

/** i^2 = -1 and xi = `xiReal` + i, from which the extensions of degree 6 and 12 are made. */
export type TowerShape = FieldShape & { readonly xiReal: number };

/** The leaf functions of a field with the room they need, shared by all programs of a module. */
export class FieldLibrary {
  readonly assembler: WasmAssembler;
  readonly functions: FieldFunctions;
  readonly shape: TowerShape;
  readonly elementSize: number;
  readonly scratchAddress: number;
  /** Beyond this, the product of two limbs, or of the prime's with a multiple, is not exact. */
  readonly weightProductMax: number;
  /** What weight and size of an element that is settled may be together, one carry to spare. */
  readonly settleMax: number;
  /** R / prime: what a product of sizes is divided by in a multiplication. */
  readonly shrinkage: number;

  constructor(assembler: WasmAssembler, shape: TowerShape, scratchAddress: number) {
    this.assembler = assembler;
    this.shape = shape;
    this.functions = defineField(assembler, shape);
    this.elementSize = LANE_PAIR_SIZE * shape.limbCount;
    this.scratchAddress = scratchAddress;
    this.weightProductMax = 2 ** (53 - shape.limbBits);
    this.settleMax = 2 * this.weightProductMax - 2;
    this.shrinkage = 2 ** (shape.limbCount * shape.limbBits) / Number(shape.prime);
  }

  /** Defines a function over addresses by what it computes. Nothing it calls has scratch. */
  define(name: string, parameterCount: number, write: (program: FieldProgram) => void): void {
    const types = Array.from({ length: parameterCount }, () => "i32" as const);
    this.assembler.define(name, types, (body) => write(new FieldProgram(this, body)));
  }
}

/**
 * Straight-line code over elements. Each operation has a place of its own for its result, so a
 * parameter may be both input and output as long as `store` comes last.
 */
export class FieldProgram {
  readonly #library: FieldLibrary;
  readonly #body: WasmFunction;
  #nextAddress: number;

  constructor(library: FieldLibrary, body: WasmFunction) {
    this.#library = library;
    this.#body = body;
    this.#nextAddress = library.scratchAddress;
  }

  /** The elements in a row at the address that a parameter gives; their weight is one. */
  parameter(position: number, count: number): readonly Element[] {
    const base = this.#body.parameter(position);
    return Array.from({ length: count }, (_, index) => ({
      base,
      offset: index * this.#library.elementSize,
      weight: 1,
      size: PARAMETER_SIZE,
    }));
  }

  /** An element that is kept at a known address. */
  constant(address: number): Element {
    return { base: undefined, offset: address, weight: 1, size: PARAMETER_SIZE };
  }

  multiply(a: Element, b: Element): Element {
    const [left, right] = this.#lightened(a, b, 2);
    // Two products are summed into each coefficient.
    const size = this.#productSize(2 * left.size * right.size);
    return this.#apply(this.#library.functions.multiply, 1, size, left, right);
  }

  /** Two products in the prime field, or of an element with a number that is in both lanes. */
  multiplyLanes(a: Element, b: Element): Element {
    const [left, right] = this.#lightened(a, b, 1);
    const size = this.#productSize(left.size * right.size);
    return this.#apply(this.#library.functions.multiplyLanes, 1, size, left, right);
  }

  square(a: Element): Element {
    const { weightProductMax, shrinkage, functions } = this.#library;
    if (4 * a.size * a.size > shrinkage) return this.square(this.settle(a));
    if (4 * a.weight * a.weight > weightProductMax) return this.square(this.settle(a));
    return this.#apply(functions.square, 1, this.#productSize(4 * a.size * a.size), a);
  }

  add(a: Element, b: Element): Element {
    return this.#sum(this.#library.functions.add, a, b);
  }

  subtract(a: Element, b: Element): Element {
    return this.#sum(this.#library.functions.subtract, a, b);
  }

  scale(a: Element, factor: number): Element {
    const size = Math.abs(factor);
    const { weightProductMax: max, settleMax } = this.#library;
    const isLarge = a.weight * size > max || (a.weight + a.size) * size > settleMax;
    const operand = isLarge ? this.settle(a) : a;
    const { weight, size: valueSize } = operand;
    const target = this.#library.functions.scale(factor);
    return this.#apply(target, weight * size, valueSize * size, operand);
  }

  conjugate(a: Element): Element {
    return this.#apply(this.#library.functions.conjugate, a.weight, a.size, a);
  }

  negate(a: Element): Element {
    return this.scale(a, -1);
  }

  /** The product with xi, of which the towers are made. */
  timesXi(a: Element): Element {
    const turned = this.#apply(this.#library.functions.turn, a.weight, a.size, a);
    const { xiReal } = this.#library.shape;
    return this.add(xiReal === 1 ? a : this.scale(a, xiReal), turned);
  }

  /** Writes a result. All that is stored is settled, so that nothing grows from call to call. */
  store(target: Element, value: Element): void {
    this.#assertSettles(value);
    this.#push(target);
    this.#push(value);
    this.#body.call(this.#library.functions.settle);
  }

  settle(a: Element): Element {
    this.#assertSettles(a);
    return this.#apply(this.#library.functions.settle, 1, SETTLED_SIZE, a);
  }

  /** The multiple of the prime that is taken off, and what it is taken off from, stay exact. */
  #assertSettles(a: Element): void {
    const isExact = a.size + a.weight <= this.#library.settleMax;
    invariant(isExact, "a value is too large to be settled");
  }

  #productSize(sizes: number): number {
    invariant(sizes <= this.#library.shrinkage, "a product is too large");
    return 1 + sizes / this.#library.shrinkage;
  }

  #sum(target: WasmFunction, a: Element, b: Element): Element {
    const weight = a.weight + b.weight;
    const size = a.size + b.size;
    const { weightProductMax: max, settleMax } = this.#library;
    if (weight <= max && weight + size <= settleMax) return this.#apply(target, weight, size, a, b);
    const isLeftLarger = a.weight + a.size >= b.weight + b.size;
    return isLeftLarger
      ? this.#sum(target, this.settle(a), b)
      : this.#sum(target, a, this.settle(b));
  }

  /** The operands, settled as far as needed for a sum of `count` products. */
  #lightened(a: Element, b: Element, count: number): readonly [Element, Element] {
    const { weightProductMax, shrinkage } = this.#library;
    if (count * a.size * b.size > shrinkage) {
      return a.size >= b.size
        ? this.#lightened(this.settle(a), b, count)
        : this.#lightened(a, this.settle(b), count);
    }
    if (a.weight * b.weight <= weightProductMax) return [a, b];
    return a.weight >= b.weight
      ? this.#lightened(this.settle(a), b, count)
      : this.#lightened(a, this.settle(b), count);
  }

  #apply(
    target: WasmFunction,
    weight: number,
    size: number,
    ...operands: readonly Element[]
  ): Element {
    const { weightProductMax, elementSize, assembler } = this.#library;
    // Far below 2^53, so that the sums of doubles are exact.
    invariant(weight <= weightProductMax, "an element grew too heavy to be carried");
    const result = { base: undefined, offset: this.#nextAddress, weight, size };
    this.#nextAddress += elementSize;
    invariant(this.#nextAddress <= assembler.memorySize, "a program outgrew its scratch");
    this.#push(result);
    for (const operand of operands) this.#push(operand);
    this.#body.call(target);
    return result;
  }

  #push(element: Element): void {
    if (element.base === undefined) this.#body.i32(element.offset);
    else if (element.offset === 0) this.#body.get(element.base);
    else this.#body.get(element.base).i32(element.offset).op("i32.add");
  }
}

import { invariant } from "../base/invariant.ts";
import { defineField, LANE_PAIR_SIZE, type FieldFunctions, type FieldShape } from "./fp2-kernel.ts";
import type { Local, WasmAssembler, WasmFunction } from "./wasm-assembler.ts";

/** An element in memory: at a constant address, or at a constant distance from a parameter. */
export type Element = {
  readonly base: Local | undefined;
  readonly offset: number;
  /** How many balanced elements it may be the sum of. Without carries, limbs grow with it. */
  readonly weight: number;
};

/** i^2 = -1 and xi = `xiReal` + i, from which the extensions of degree 6 and 12 are made. */
export type TowerShape = FieldShape & { readonly xiReal: number };

/** The leaf functions of a field with the room they need, shared by all programs of a module. */
export class FieldLibrary {
  readonly assembler: WasmAssembler;
  readonly functions: FieldFunctions;
  readonly shape: TowerShape;
  readonly elementSize: number;
  readonly scratchAddress: number;
  readonly weightProductMax: number;

  constructor(assembler: WasmAssembler, shape: TowerShape, scratchAddress: number) {
    this.assembler = assembler;
    this.shape = shape;
    this.functions = defineField(assembler, shape);
    this.elementSize = LANE_PAIR_SIZE * shape.limbCount;
    this.scratchAddress = scratchAddress;
    this.weightProductMax = 2 ** (53 - shape.limbBits);
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
    }));
  }

  /** An element that is kept at a known address. */
  constant(address: number): Element {
    return { base: undefined, offset: address, weight: 1 };
  }

  multiply(a: Element, b: Element): Element {
    const [left, right] = this.#lightened(a, b);
    return this.#apply(this.#library.functions.multiply, 1, left, right);
  }

  /** Two products in the prime field, or of an element with a number that is in both lanes. */
  multiplyLanes(a: Element, b: Element): Element {
    const [left, right] = this.#lightened(a, b);
    return this.#apply(this.#library.functions.multiplyLanes, 1, left, right);
  }

  square(a: Element): Element {
    const isHeavy = 4 * a.weight * a.weight > this.#library.weightProductMax;
    return this.#apply(this.#library.functions.square, 1, isHeavy ? this.carry(a) : a);
  }

  add(a: Element, b: Element): Element {
    return this.#sum(this.#library.functions.add, a, b);
  }

  subtract(a: Element, b: Element): Element {
    return this.#sum(this.#library.functions.subtract, a, b);
  }

  scale(a: Element, factor: number): Element {
    const size = Math.abs(factor);
    const operand = a.weight * size > this.#library.weightProductMax ? this.carry(a) : a;
    return this.#apply(this.#library.functions.scale(factor), operand.weight * size, operand);
  }

  conjugate(a: Element): Element {
    return this.#apply(this.#library.functions.conjugate, a.weight, a);
  }

  negate(a: Element): Element {
    return this.scale(a, -1);
  }

  /** The product with xi, of which the towers are made. */
  timesXi(a: Element): Element {
    const turned = this.#apply(this.#library.functions.turn, a.weight, a);
    const { xiReal } = this.#library.shape;
    return this.add(xiReal === 1 ? a : this.scale(a, xiReal), turned);
  }

  carry(a: Element): Element {
    return this.#apply(this.#library.functions.carry, 1, a);
  }

  store(target: Element, value: Element): void {
    this.#push(target);
    this.#push(value);
    this.#body.call(this.#library.functions.carry);
  }

  #sum(target: WasmFunction, a: Element, b: Element): Element {
    if (a.weight + b.weight <= this.#library.weightProductMax) {
      return this.#apply(target, a.weight + b.weight, a, b);
    }
    const isLeftHeavier = a.weight >= b.weight;
    return this.#sum(target, isLeftHeavier ? this.carry(a) : a, isLeftHeavier ? b : this.carry(b));
  }

  #lightened(a: Element, b: Element): readonly [Element, Element] {
    if (a.weight * b.weight <= this.#library.weightProductMax) return [a, b];
    return a.weight >= b.weight
      ? this.#lightened(this.carry(a), b)
      : this.#lightened(a, this.carry(b));
  }

  #apply(target: WasmFunction, weight: number, ...operands: readonly Element[]): Element {
    const { weightProductMax, elementSize, assembler } = this.#library;
    // Far below 2^53, so that the sums of doubles are exact.
    invariant(weight <= weightProductMax, "an element grew too heavy to be carried");
    const result = { base: undefined, offset: this.#nextAddress, weight };
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

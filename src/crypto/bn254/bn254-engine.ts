import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import { EncodedAddition } from "../pairing/encoded-addition.ts";
import { QuadraticField, type Pair } from "../pairing/extension-field.ts";
import { G1Group } from "../pairing/g1-group.ts";
import { G2Group } from "../pairing/g2-group.ts";
import { PairingEngine } from "../pairing/pairing-engine.ts";
import {
  PairingProduct,
  type G1Affine,
  type G2Affine,
  type PairingRules,
  type PointPair,
} from "../pairing/pairing-product.ts";
import { createScalarSplitter } from "../pairing/scalar-splitting.ts";
import type { Bn254 } from "./bn254-rules.ts";

const PRIME = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n;
const ORDER = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n;
/** (x, y) -> (BETA x, y) is the multiplication with LAMBDA. */
const BETA = 0x59e26bcea0d48bacd4f263f1acdb5c4f5763473177fffffen;
const LAMBDA = 0xb3c4d79d41a917585bfc41088d8daaa78b17ea66b99c90ddn;
const XI: Pair = [9n, 1n];
/** The curve is BN's with this parameter. */
const X = 4965661367192848881n;

/** alt_bn128 over the WebAssembly kernel. */
export class Bn254Engine implements Bn254 {
  readonly #engine: PairingEngine;
  readonly #field = new QuadraticField(PRIME);
  readonly #product: PairingProduct;
  readonly #twist: G2Group;
  readonly #g1: G1Group;
  readonly #addition: EncodedAddition;
  readonly #twistB: Pair;

  constructor() {
    const shape = { prime: PRIME, limbCount: 6, limbBits: 44, xiReal: 9 };
    this.#engine = new PairingEngine({ ...shape, twist: "divide", threeB: 9 });
    this.#twist = new G2Group(this.#engine, [
      this.#field.power(XI, (PRIME - 1n) / 3n),
      this.#field.power(XI, (PRIME - 1n) / 2n),
    ]);
    this.#g1 = new G1Group(this.#engine, {
      beta: BETA,
      splitScalar: createScalarSplitter(ORDER, LAMBDA),
    });
    this.#addition = new EncodedAddition(this.#engine, 32);
    this.#twistB = this.#field.multiply([3n, 0n], this.#field.invert(XI));
    this.#product = new PairingProduct(this.#engine, XI, this.#rules());
  }

  add(points: Uint8Array): Uint8Array | undefined {
    return this.#addition.addG1(points);
  }

  multiply(point: Uint8Array, scalar: Uint8Array): Uint8Array | undefined {
    const decoded = this.#decodeG1(point);
    if (decoded === undefined) return undefined;
    if (decoded === "infinity") return encodeG1(undefined);
    const factor = readBigEndian(scalar, 0, scalar.length) % ORDER;
    return encodeG1(this.#g1.multiplySum([{ point: decoded, scalar: factor }]));
  }

  pairingCheck(input: Uint8Array): boolean | undefined {
    const pairs: PointPair[] = [];
    for (let offset = 0; offset < input.length; offset += 192) {
      const g1 = this.#decodeG1(input.subarray(offset, offset + 64));
      const g2 = this.#decodeG2(input.subarray(offset + 64, offset + 192));
      if (g1 === undefined || g2 === undefined) return undefined;
      if (g1 !== "infinity" && g2 !== "infinity") pairs.push({ g1, g2 });
    }
    return this.#product.isOne(pairs);
  }

  #decodeG1(bytes: Uint8Array): G1Affine | "infinity" | undefined {
    const x = readBigEndian(bytes, 0, 32);
    const y = readBigEndian(bytes, 32, 32);
    if (x >= PRIME || y >= PRIME) return undefined;
    if (x === 0n && y === 0n) return "infinity";
    return (y * y - x * x * x - 3n) % PRIME === 0n ? { x, y } : undefined;
  }

  #decodeG2(bytes: Uint8Array): G2Affine | "infinity" | undefined {
    const [x1 = 0n, x0 = 0n, y1 = 0n, y0 = 0n] = [0, 32, 64, 96].map((offset) =>
      readBigEndian(bytes, offset, 32),
    );
    if (x0 >= PRIME || x1 >= PRIME || y0 >= PRIME || y1 >= PRIME) return undefined;
    if (x0 === 0n && x1 === 0n && y0 === 0n && y1 === 0n) return "infinity";
    const field = this.#field;
    const [x, y]: readonly [Pair, Pair] = [
      [x0, x1],
      [y0, y1],
    ];
    const right = field.add(field.multiply(field.multiply(x, x), x), this.#twistB);
    const left = field.multiply(y, y);
    if (left[0] !== right[0] || left[1] !== right[1]) return undefined;
    return this.#isInSubgroup({ x, y }) ? { x, y } : undefined;
  }

  /** (x + 1)Q + psi(xQ) + psi^2(xQ) = psi^3(2xQ), psi the p-power map: one short multiplication. */
  #isInSubgroup(q: G2Affine): boolean {
    const group = this.#twist;
    const mark = group.engine.mark();
    const point = group.write(q);
    const multiple = group.times(point, X);
    const left = group.allocate();
    const image = group.allocate();
    group.add(left, multiple, point);
    group.frobenius(image, multiple);
    group.add(left, left, image);
    group.frobenius(image, image);
    group.add(left, left, image);
    group.frobenius(image, image);
    group.double(image, image);
    const isMember = group.isEqual(left, image);
    group.engine.release(mark);
    return isMember;
  }

  #rules(): PairingRules {
    const group = this.#twist;
    return {
      loopDigits: nonAdjacentDigits(6n * X + 2n).slice(1),
      // The lines through T, pi(Q) and then -pi^2(Q) complete the optimal ate pairing.
      finishLoop: (product, accumulator, pairs) => {
        const { engine } = product;
        const image = group.allocate();
        const size = engine.elementSize;
        for (const { base, running, point } of pairs) {
          engine.copy(image, base, 2);
          engine.write(image + 2 * size, [1n, 0n]);
          group.frobenius(image, image);
          product.lineAdd(accumulator, running, point, image);
          group.frobenius(image, image);
          group.negate(image, image);
          product.lineAdd(accumulator, running, point, image);
        }
      },
      hardPart,
    };
  }
}

function encodeG1(point: G1Affine | undefined): Uint8Array {
  const bytes = new Uint8Array(64);
  if (point === undefined) return bytes;
  writeBigEndian(point.x, bytes, 0, 32);
  writeBigEndian(point.y, bytes, 32, 32);
  return bytes;
}

/** f ** (2x(6x^2 + 3x + 1) (p^4 - p^2 + 1) / r), after Fuentes-Castañeda and others. */
function hardPart(product: PairingProduct, f: number): void {
  const [a, b, c, d, e] = [1, 2, 3, 4, 5].map(() => product.twelve());
  if (a === undefined || b === undefined || c === undefined) return;
  if (d === undefined || e === undefined) return;
  product.power(b, f, X);
  product.conjugate(b, b);
  product.square(a, b); // -2x
  product.square(b, a);
  product.multiply(b, a, b); // -6x
  product.power(c, b, X);
  product.conjugate(c, c); // 6x^2
  product.conjugate(d, b); // 6x
  product.multiply(b, c, d); // 6x^2 + 6x
  product.square(d, c); // 12x^2
  product.power(e, d, X); // 12x^3
  product.multiply(e, b, e); // 12x^3 + 6x^2 + 6x
  product.multiply(d, a, e); // 12x^3 + 6x^2 + 4x
  product.multiply(a, c, e); // 12x^3 + 12x^2 + 6x
  product.multiply(a, f, a); // 12x^3 + 12x^2 + 6x + 1
  product.frobenius(c, d, 1);
  product.multiply(a, c, a);
  product.frobenius(c, e, 2);
  product.multiply(a, c, a);
  product.conjugate(c, f);
  product.multiply(c, c, d); // 12x^3 + 6x^2 + 4x - 1
  product.frobenius(e, c, 3);
  product.multiply(f, e, a);
}

/** Digits -1, 0 and 1, most significant first, as few as possible of them not zero. */
function nonAdjacentDigits(value: bigint): readonly number[] {
  const digits: number[] = [];
  let rest = value;
  while (rest > 0n) {
    const digit = (rest & 1n) === 0n ? 0n : 2n - (rest & 3n);
    digits.push(Number(digit));
    rest = (rest - digit) >> 1n;
  }
  return digits.reverse();
}

import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import { EncodedAddition } from "../pairing/encoded-addition.ts";
import { QuadraticField, type Pair } from "../pairing/extension-field.ts";
import { G1Group, type G1Term } from "../pairing/g1-group.ts";
import { G2Group } from "../pairing/g2-group.ts";
import { multiplySumG2, type G2Term } from "../pairing/g2-multiplication.ts";
import { PairingEngine } from "../pairing/pairing-engine.ts";
import {
  PairingProduct,
  type G1Affine,
  type G2Affine,
  type PointPair,
} from "../pairing/pairing-product.ts";
import { Bls12Map } from "./bls12-381-map.ts";
import type { Bls12 } from "./bls12-381-rules.ts";
import { verifyKzgProof } from "./kzg-engine.ts";

const BLS_PRIME =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
const BLS_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** (x, y) -> (BETA x, y) is the multiplication with -X^2. */
const BETA = 0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffen;
const XI: Pair = [1n, 1n];
/** The curve's parameter is the negative of this. */
const X = 0xd201000000010000n;

const FIELD_SIZE = 64;
const G1_SIZE = 128;
const G2_SIZE = 256;
const SCALAR_SIZE = 32;
const PAIR_SIZE = G1_SIZE + G2_SIZE;

type Decoded<Point> = Point | "infinity" | undefined;

/** The operations of EIP-2537 on encoded points; undefined is an input that is refused. */
export class Bls12Engine implements Bls12 {
  readonly #engine: PairingEngine;
  readonly #field = new QuadraticField(BLS_PRIME);
  readonly #g1: G1Group;
  readonly #addition: EncodedAddition;
  readonly #g2: G2Group;
  readonly #product: PairingProduct;
  readonly #map: Bls12Map;

  constructor() {
    const shape = { prime: BLS_PRIME, limbCount: 8, limbBits: 49, xiReal: 1 };
    this.#engine = new PairingEngine({ ...shape, twist: "multiply", threeB: 12 });
    this.#g1 = new G1Group(this.#engine, {
      beta: BETA,
      // X^2 P is minus the image of P.
      splitScalar: (scalar) => [scalar % (X * X), -(scalar / (X * X))],
    });
    const unit = this.#field.invert(XI);
    this.#g2 = new G2Group(this.#engine, [
      this.#field.power(unit, (BLS_PRIME - 1n) / 3n),
      this.#field.power(unit, (BLS_PRIME - 1n) / 2n),
    ]);
    this.#addition = new EncodedAddition(this.#engine, FIELD_SIZE);
    this.#product = new PairingProduct(this.#engine, XI, {
      loopDigits: Array.from(X.toString(2).slice(1), Number),
      finishLoop: (product, accumulator) => product.conjugate(accumulator, accumulator),
      hardPart,
    });
    this.#map = new Bls12Map({
      engine: this.#engine,
      g1: this.#g1,
      g2: this.#g2,
      squareRoots: (values) => this.squareRoots(values),
      parameter: X,
    });
  }

  addG1(input: Uint8Array): Uint8Array | undefined {
    return this.#addition.addG1(input);
  }

  addG2(input: Uint8Array): Uint8Array | undefined {
    return this.#addition.addG2(input);
  }

  multiplySumG1(input: Uint8Array): Uint8Array | undefined {
    const terms: G1Term[] = [];
    for (let offset = 0; offset < input.length; offset += G1_SIZE + SCALAR_SIZE) {
      const point = this.#decodeG1(input, offset);
      if (point === undefined) return undefined;
      if (point === "infinity") continue;
      terms.push({ point, scalar: decodeScalar(input, offset + G1_SIZE) });
    }
    if (!this.areInG1(terms.map(({ point }) => point))) return undefined;
    return encodeG1(this.#g1.multiplySum(terms.filter(({ scalar }) => scalar !== 0n)));
  }

  multiplySumG2(input: Uint8Array): Uint8Array | undefined {
    const terms: G2Term[] = [];
    for (let offset = 0; offset < input.length; offset += G2_SIZE + SCALAR_SIZE) {
      const point = this.#decodeG2(input, offset);
      if (point === undefined) return undefined;
      if (point === "infinity") continue;
      if (!this.#isInG2(point)) return undefined;
      terms.push({ point, scalar: decodeScalar(input, offset + G2_SIZE) });
    }
    return encodeG2(multiplySumG2(this.#g2, terms, X));
  }

  pairingCheck(input: Uint8Array): boolean | undefined {
    const pairs: PointPair[] = [];
    const points: G1Affine[] = [];
    for (let offset = 0; offset < input.length; offset += PAIR_SIZE) {
      const g1 = this.#decodeG1(input, offset);
      const g2 = this.#decodeG2(input, offset + G1_SIZE);
      if (g1 === undefined || g2 === undefined) return undefined;
      if (g2 !== "infinity" && !this.#isInG2(g2)) return undefined;
      if (g1 !== "infinity") points.push(g1);
      if (g1 !== "infinity" && g2 !== "infinity") pairs.push({ g1, g2 });
    }
    if (!this.areInG1(points)) return undefined;
    return this.isProductOne(pairs);
  }

  mapToG1(element: Uint8Array): Uint8Array | undefined {
    const u = readBigEndian(element, 0, element.length);
    return u < BLS_PRIME ? encodeG1(this.#map.mapToG1(u)) : undefined;
  }

  mapToG2(element: Uint8Array): Uint8Array | undefined {
    const a = readBigEndian(element, 0, FIELD_SIZE);
    const b = readBigEndian(element, FIELD_SIZE, FIELD_SIZE);
    return a < BLS_PRIME && b < BLS_PRIME ? encodeG2(this.#map.mapToG2([a, b])) : undefined;
  }

  verifyKzgProof(commitment: Uint8Array, z: Uint8Array, y: Uint8Array, proof: Uint8Array): boolean {
    return verifyKzgProof(this, commitment, z, y, proof);
  }

  /** Square roots of two numbers; of those that are no squares, the roots of their negatives. */
  squareRoots(values: Pair): Pair {
    const mark = this.#engine.mark();
    const place = this.#engine.allocate(1);
    this.#engine.write(place, values);
    const multiply = this.#engine.function("multiplyLanes");
    this.#engine.power(place, place, (BLS_PRIME + 1n) / 4n, multiply);
    const roots = this.#engine.read(place);
    this.#engine.release(mark);
    return roots;
  }

  /** For points in their subgroups. */
  isProductOne(pairs: readonly PointPair[]): boolean {
    return pairs.length === 0 || this.#product.isOne(pairs);
  }

  /** The sum of points of the subgroup times scalars below its order; undefined is infinity. */
  sumG1(terms: readonly G1Term[]): G1Affine | undefined {
    return this.#g1.multiplySum(terms);
  }

  /** Whether points of the curve are in the subgroup (Scott, 2021). */
  areInG1(points: readonly G1Affine[]): boolean {
    return this.#g1.areImagesOfSquare(points, X);
  }

  /** The p-power map is the multiplication with -X on the subgroup, and nowhere else. */
  #isInG2(affine: G2Affine): boolean {
    const group = this.#g2;
    const mark = this.#engine.mark();
    const point = group.write(affine);
    const multiple = group.times(point, X);
    group.negate(multiple, multiple);
    group.frobenius(point, point);
    const isMember = group.isEqual(point, multiple);
    this.#engine.release(mark);
    return isMember;
  }

  #decodeG1(input: Uint8Array, offset: number): Decoded<G1Affine> {
    const x = readBigEndian(input, offset, FIELD_SIZE);
    const y = readBigEndian(input, offset + FIELD_SIZE, FIELD_SIZE);
    if (x >= BLS_PRIME || y >= BLS_PRIME) return undefined;
    if (x === 0n && y === 0n) return "infinity";
    return (y * y - x * x * x - 4n) % BLS_PRIME === 0n ? { x, y } : undefined;
  }

  #decodeG2(input: Uint8Array, offset: number): Decoded<G2Affine> {
    const [x0 = 0n, x1 = 0n, y0 = 0n, y1 = 0n] = [0, 1, 2, 3].map((index) => {
      const start = offset + index * FIELD_SIZE;
      return readBigEndian(input, start, FIELD_SIZE);
    });
    if (x0 >= BLS_PRIME || x1 >= BLS_PRIME || y0 >= BLS_PRIME || y1 >= BLS_PRIME) return undefined;
    if (x0 === 0n && x1 === 0n && y0 === 0n && y1 === 0n) return "infinity";
    const field = this.#field;
    const point: G2Affine = { x: [x0, x1], y: [y0, y1] };
    const cube = field.multiply(field.multiply(point.x, point.x), point.x);
    const [right0, right1] = field.add(cube, [4n, 4n]);
    const [left0, left1] = field.multiply(point.y, point.y);
    return left0 === right0 && left1 === right1 ? point : undefined;
  }
}

/** f ** (3 (p^4 - p^2 + 1) / r), as (x-1)^2 (x+p) (x^2+p^2-1) + 3, x = -X (Hayashida et al.). */
function hardPart(product: PairingProduct, f: number): void {
  const [a, b, c] = [1, 2, 3].map(() => product.twelve());
  if (a === undefined || b === undefined || c === undefined) return;
  const timesParameter = (target: number, source: number): void => {
    product.power(target, source, X);
    product.conjugate(target, target);
  };
  timesParameter(a, f);
  product.conjugate(b, f);
  product.multiply(a, a, b); // x - 1
  timesParameter(c, a);
  product.conjugate(b, a);
  product.multiply(a, b, c); // (x - 1)^2
  timesParameter(b, a);
  product.frobenius(c, a, 1);
  product.multiply(a, b, c); // (x - 1)^2 (x + p)
  timesParameter(b, a);
  timesParameter(c, b);
  product.frobenius(b, a, 2);
  product.multiply(c, c, b);
  product.conjugate(b, a);
  product.multiply(c, c, b); // (x - 1)^2 (x + p) (x^2 + p^2 - 1)
  product.square(b, f);
  product.multiply(f, f, b);
  product.multiply(f, f, c);
}

function decodeScalar(input: Uint8Array, offset: number): bigint {
  return readBigEndian(input, offset, SCALAR_SIZE) % BLS_ORDER;
}

function encodeG1(point: G1Affine | "infinity" | undefined): Uint8Array {
  const bytes = new Uint8Array(G1_SIZE);
  if (point === undefined || point === "infinity") return bytes;
  writeBigEndian(point.x, bytes, 0, FIELD_SIZE);
  writeBigEndian(point.y, bytes, FIELD_SIZE, FIELD_SIZE);
  return bytes;
}

function encodeG2(point: G2Affine | "infinity" | undefined): Uint8Array {
  const bytes = new Uint8Array(G2_SIZE);
  if (point === undefined || point === "infinity") return bytes;
  [...point.x, ...point.y].forEach((coordinate, index) => {
    writeBigEndian(coordinate, bytes, index * FIELD_SIZE, FIELD_SIZE);
  });
  return bytes;
}

/**
 * Field elements to points of the subgroups (RFC 9380, sections 6.6.3 and 8.8): the simplified map
 * of Shallue, van de Woestijne and Ulas to an isogenous curve, the isogeny, and the cofactor.
 */
import { QuadraticField, type Pair } from "../pairing/extension-field.ts";
import type { G1Group } from "../pairing/g1-group.ts";
import type { G2Group } from "../pairing/g2-group.ts";
import type { PairingEngine } from "../pairing/pairing-engine.ts";
import type { G1Affine, G2Affine } from "../pairing/pairing-product.ts";
import { G1_ISOGENY, G2_ISOGENY } from "./bls12-381-isogeny.ts";

/** y^2 = x^3 + A x + B, and Z, for either group. */
const A1 =
  0x144698a3b8e9433d693a02c96d4982b0ea985383ee66a8d8e8981aefd881ac98936f8da0e0f97f5cf428082d584c1dn;
const B1 =
  0x12e2908d11688030018b12e8753eee3b2016c1f0f24f4070a0b9c14fcef35ef55a23215a316ceaa5d1cc48e98e172be0n;
const Z1 = 11n;
const A2: Pair = [0n, 240n];
const B2: Pair = [1012n, 1012n];

type MapParts = {
  readonly engine: PairingEngine;
  readonly g1: G1Group;
  readonly g2: G2Group;
  /** Of numbers that are no squares, the roots of their negatives: the prime is 3 modulo 4. */
  readonly squareRoots: (values: Pair) => Pair;
  /** The absolute value of the curve's parameter. */
  readonly parameter: bigint;
};

export class Bls12Map {
  readonly #parts: MapParts;
  readonly #prime: bigint;
  readonly #field: QuadraticField;
  /** Coefficients of numerator and denominator in one element, for x and for y. */
  readonly #isogenyX: readonly number[];
  readonly #isogenyY: readonly number[];
  readonly #rootOfZ: bigint;
  readonly #negatedBOverA: bigint;
  readonly #exceptional: bigint;
  readonly #z2: Pair;
  readonly #negatedBOverA2: Pair;
  readonly #exceptional2: Pair;

  constructor(parts: MapParts) {
    this.#parts = parts;
    const { engine } = parts;
    const { prime } = engine;
    const field = new QuadraticField(prime);
    this.#prime = prime;
    this.#field = field;
    const place = (left: readonly bigint[], right: readonly bigint[]): readonly number[] =>
      left.map((coefficient, index) => {
        const address = engine.allocate(1);
        engine.write(address, [coefficient, right[index] ?? 0n]);
        return address;
      });
    this.#isogenyX = place(G1_ISOGENY.xNumerator, G1_ISOGENY.xDenominator);
    this.#isogenyY = place(G1_ISOGENY.yNumerator, G1_ISOGENY.yDenominator);
    this.#rootOfZ = parts.squareRoots([prime - Z1 ** 3n, 0n])[0];
    this.#negatedBOverA = field.reduce(-B1 * field.invertPrime(A1));
    this.#exceptional = field.reduce(B1 * field.invertPrime(Z1 * A1));
    this.#z2 = [prime - 2n, prime - 1n];
    const overA = field.multiply(B2, field.invert(A2));
    this.#negatedBOverA2 = field.multiply([prime - 1n, 0n], overA);
    this.#exceptional2 = field.multiply(overA, field.invert(this.#z2));
  }

  mapToG1(u: bigint): G1Affine | undefined {
    const { engine, g1, parameter } = this.#parts;
    const mark = engine.mark();
    const { x, y } = this.#toIsogenousG1(u);
    const [xTop, xBottom] = this.#evaluate(this.#isogenyX, x);
    const [yTop, yBottom] = this.#evaluate(this.#isogenyY, x);
    const { prime } = engine;
    const z = (xBottom * yBottom) % prime;
    let image: G1Affine | undefined;
    if (z !== 0n) {
      const point = g1.writeBoth(
        (xTop * yBottom) % prime,
        (((y * yTop) % prime) * xBottom) % prime,
        z,
      );
      const multiple = g1.times(point, parameter);
      g1.add(multiple, multiple, point);
      image = g1.readAffine(multiple);
    }
    engine.release(mark);
    return image;
  }

  mapToG2(u: Pair): G2Affine | undefined {
    const field = this.#field;
    const { engine, g2 } = this.#parts;
    const mark = engine.mark();
    const { x, y } = this.#toIsogenousG2(u);
    const { xNumerator, xDenominator, yNumerator, yDenominator } = G2_ISOGENY;
    const evaluate = (coefficients: readonly Pair[]): Pair =>
      coefficients.reduceRight((sum, next) => field.add(field.multiply(sum, x), next), ZERO);
    const [xBottom, yBottom] = [evaluate(xDenominator), evaluate(yDenominator)];
    const z = field.multiply(xBottom, yBottom);
    let image: G2Affine | undefined;
    if (z[0] !== 0n || z[1] !== 0n) {
      const point = g2.allocate();
      engine.write(point, field.multiply(evaluate(xNumerator), yBottom));
      const yTop = field.multiply(y, evaluate(yNumerator));
      engine.write(point + engine.elementSize, field.multiply(yTop, xBottom));
      engine.write(point + 2 * engine.elementSize, z);
      image = g2.read(this.#clearCofactorG2(point));
    }
    engine.release(mark);
    return image;
  }

  #toIsogenousG1(u: bigint): G1Affine {
    const prime = this.#prime;
    const scaled = (Z1 * u * u) % prime;
    const sum = (scaled * scaled + scaled) % prime;
    const x1 =
      sum === 0n
        ? this.#exceptional
        : (this.#negatedBOverA * (1n + this.#field.invertPrime(sum))) % prime;
    const right = (((x1 * x1 + A1) % prime) * x1 + B1) % prime;
    const [root] = this.#parts.squareRoots([right, 0n]);
    const isSquare = (root * root - right) % prime === 0n;
    const x = isSquare ? x1 : (scaled * x1) % prime;
    // Where x1 gives no square, Z^3 u^6 times it is one, and its root follows from this one.
    const y = isSquare ? root : (((u * u) % prime) * ((u * root) % prime) * this.#rootOfZ) % prime;
    return { x, y: (u & 1n) === (y & 1n) ? y : (prime - y) % prime };
  }

  /** A polynomial pair at x by Horner's rule, in the lanes of an element. */
  #evaluate(coefficients: readonly number[], x: bigint): Pair {
    const { engine } = this.#parts;
    const [point, sum] = [engine.allocate(1), engine.allocate(1)];
    engine.write(point, [x, x]);
    engine.copy(sum, coefficients.at(-1) ?? point, 1);
    for (const coefficient of coefficients.slice(0, -1).reverse()) {
      engine.function("multiplyLanes")(sum, sum, point);
      engine.function("add")(sum, sum, coefficient);
    }
    return engine.read(sum);
  }

  #toIsogenousG2(u: Pair): G2Affine {
    const field = this.#field;
    const scaled = field.multiply(this.#z2, field.multiply(u, u));
    const sum = field.add(field.multiply(scaled, scaled), scaled);
    const x1 =
      sum[0] === 0n && sum[1] === 0n
        ? this.#exceptional2
        : field.multiply(this.#negatedBOverA2, field.add([1n, 0n], field.invert(sum)));
    const linear = field.add(field.multiply(x1, x1), A2);
    const right1 = field.add(field.multiply(linear, x1), B2);
    const cube = field.multiply(field.multiply(scaled, scaled), scaled);
    const right2 = field.multiply(cube, right1);
    // An element is a square if and only if its norm is one in the prime field.
    const norms: Pair = [this.#norm(right1), this.#norm(right2)];
    const roots = this.#parts.squareRoots(norms);
    const isSquare = (roots[0] * roots[0] - norms[0]) % this.#prime === 0n;
    const x = isSquare ? x1 : field.multiply(scaled, x1);
    const y = isSquare ? this.#root(right1, roots[0]) : this.#root(right2, roots[1]);
    return { x, y: signOf(u) === signOf(y) ? y : this.#negated(y) };
  }

  #norm([a, b]: Pair): bigint {
    return (a * a + b * b) % this.#prime;
  }

  /** A root of a square, given a root of its norm. */
  #root([a, b]: Pair, normRoot: bigint): Pair {
    const field = this.#field;
    const half = (this.#prime + 1n) / 2n;
    const plus = field.reduce((a + normRoot) * half);
    const square = plus === 0n ? field.reduce((a - normRoot) * half) : plus;
    const [root] = this.#parts.squareRoots([square, 0n]);
    if (root === 0n) return ZERO;
    const other = field.reduce(b * half * field.invertPrime(root));
    return (root * root - square) % this.#prime === 0n ? [root, other] : [other, root];
  }

  #negated([a, b]: Pair): Pair {
    return [(this.#prime - a) % this.#prime, (this.#prime - b) % this.#prime];
  }

  /** (x^2 - x - 1)P + (x - 1)psi(P) + psi^2(2P) (Budroni and Pintore), x = -parameter. */
  #clearCofactorG2(point: number): number {
    const { g2, parameter } = this.#parts;
    const multiple = g2.times(point, parameter);
    g2.negate(multiple, multiple); // xP
    const image = g2.allocate();
    g2.frobenius(image, point);
    const sum = g2.allocate();
    g2.add(sum, multiple, image);
    const second = g2.times(sum, parameter);
    g2.negate(second, second); // x^2 P + x psi(P)
    g2.negate(image, image);
    g2.add(second, second, image);
    g2.negate(multiple, multiple);
    g2.add(second, second, multiple);
    const negatedPoint = g2.allocate();
    g2.negate(negatedPoint, point);
    g2.add(second, second, negatedPoint);
    g2.double(sum, point);
    g2.frobenius(sum, sum);
    g2.frobenius(sum, sum);
    g2.add(second, second, sum);
    return second;
  }
}

const ZERO: Pair = [0n, 0n];

/** The parity of the first coefficient that is not zero (RFC 9380, sgn0). */
function signOf([a, b]: Pair): bigint {
  return a === 0n ? b & 1n : a & 1n;
}

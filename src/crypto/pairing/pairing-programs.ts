/**
 * What the pairings and point operations are made of, as WebAssembly functions over addresses.
 * Points are homogeneous (X : Y : Z). The twist tells where the coefficients of a line stand in the
 * extension of degree 12: y^2 = x^3 + b/xi ("divide", bn254) or x^3 + b xi ("multiply", BLS12-381).
 */
import type { Element, FieldLibrary, FieldProgram } from "./field-program.ts";
import {
  addSextic,
  multiplySextic,
  multiplySexticByElement,
  multiplySexticByPair,
  multiplyTwelve,
  negateSextic,
  sexticsOf,
  shiftSextic,
  squareCyclotomic,
  squareTwelve,
  storeTwelve,
  subtractSextic,
} from "./field-tower.ts";

export type Twist = "divide" | "multiply";

type PairingShape = {
  readonly twist: Twist;
  /** 3b of the curve over the prime field. */
  readonly threeB: number;
  /** Where 3b/xi is kept, if the twist divides. */
  readonly threeTwistBAddress: number;
};

export function definePairing(library: FieldLibrary, shape: PairingShape): void {
  const threeTwistB = (p: FieldProgram, a: Element): Element =>
    shape.twist === "multiply"
      ? p.scale(p.settle(p.timesXi(a)), shape.threeB)
      : p.multiply(a, p.constant(shape.threeTwistBAddress));
  const fieldThreeB = (p: FieldProgram, a: Element): Element => p.scale(a, shape.threeB);
  defineTwelve(library);
  defineInverse(library);
  defineComparisons(library);
  defineLines(library, shape.twist, threeTwistB);
  definePoints(library, "twist", threeTwistB, (p, a, b) => p.multiply(a, b));
  definePoints(library, "lane", fieldThreeB, (p, a, b) => p.multiplyLanes(a, b));
}

function defineTwelve(library: FieldLibrary): void {
  library.define("twelveMultiply", 3, (p) => {
    multiplyTwelve(p, p.parameter(0, 6), p.parameter(1, 6), p.parameter(2, 6));
  });
  library.define("twelveSquare", 2, (p) => {
    squareTwelve(p, p.parameter(0, 6), p.parameter(1, 6));
  });
  library.define("twelveSquareCyclotomic", 2, (p) => {
    squareCyclotomic(p, p.parameter(0, 6), p.parameter(1, 6));
  });
  library.define("twelveConjugate", 2, (p) => {
    const [low, high] = sexticsOf(p.parameter(1, 6));
    storeTwelve(p, p.parameter(0, 6), low, negateSextic(p, high));
  });
  // The third parameter holds the six powers of xi that go with the coefficients.
  library.define("twelveFrobenius", 3, (p) => {
    const [target, source, factors] = [p.parameter(0, 6), p.parameter(1, 6), p.parameter(2, 6)];
    const values = source.map((element, index) =>
      p.multiply(p.conjugate(element), factors[index] ?? element),
    );
    target.forEach((element, index) => p.store(element, values[index] ?? element));
  });
}

/** The inverse in two halves: between them the caller inverts one quadratic element. */
function defineInverse(library: FieldLibrary): void {
  library.define("twelveInverseStart", 2, (p) => {
    const [a, b] = sexticsOf(p.parameter(1, 6));
    const square = shiftSextic(p, multiplySextic(p, b, b));
    const [x, y, z] = subtractSextic(p, multiplySextic(p, a, a), square).map((e) => p.settle(e));
    if (x === undefined || y === undefined || z === undefined) return;
    const first = p.subtract(p.square(x), p.timesXi(p.multiply(y, z)));
    const second = p.subtract(p.timesXi(p.square(z)), p.multiply(x, y));
    const third = p.subtract(p.square(y), p.multiply(x, z));
    const mixed = p.add(p.multiply(z, second), p.multiply(y, third));
    const norm = p.add(p.multiply(x, first), p.timesXi(mixed));
    const values = [first, second, third, norm];
    p.parameter(0, 4).forEach((element, index) => p.store(element, values[index] ?? element));
  });
  library.define("twelveInverseFinish", 3, (p) => {
    const [a, b] = sexticsOf(p.parameter(1, 6));
    const [first, second, third, inverse] = p.parameter(2, 4);
    if (first === undefined || second === undefined) return;
    if (third === undefined || inverse === undefined) return;
    const sextic = multiplySexticByElement(p, [first, second, third], inverse);
    const low = multiplySextic(p, a, sextic);
    storeTwelve(p, p.parameter(0, 6), low, negateSextic(p, multiplySextic(p, b, sextic)));
  });
}

/**
 * twistFrobenius(R, T, factors): the p-power map of the curve, seen on the twist.
 * ...Difference(d, S, T): two elements that are both zero if and only if S and T are one point.
 */
function defineComparisons(library: FieldLibrary): void {
  library.define("twistFrobenius", 3, (p) => {
    const [x, y, z] = p.parameter(1, 3);
    const [ofX, ofY] = p.parameter(2, 2);
    if (x === undefined || y === undefined || z === undefined) return;
    if (ofX === undefined || ofY === undefined) return;
    const values = [
      p.multiply(p.conjugate(x), ofX),
      p.multiply(p.conjugate(y), ofY),
      p.conjugate(z),
    ];
    p.parameter(0, 3).forEach((element, index) => p.store(element, values[index] ?? element));
  });
  const defineDifference = (prefix: string, times: Multiply): void => {
    library.define(`${prefix}Difference`, 3, (p) => {
      const [x1, y1, z1] = p.parameter(1, 3);
      const [x2, y2, z2] = p.parameter(2, 3);
      if (x1 === undefined || y1 === undefined || z1 === undefined) return;
      if (x2 === undefined || y2 === undefined || z2 === undefined) return;
      const values = [
        p.subtract(times(p, x1, z2), times(p, x2, z1)),
        p.subtract(times(p, y1, z2), times(p, y2, z1)),
      ];
      p.parameter(0, 2).forEach((element, index) => p.store(element, values[index] ?? element));
    });
  };
  defineDifference("twist", (p, a, b) => p.multiply(a, b));
  defineDifference("lane", (p, a, b) => p.multiplyLanes(a, b));
}

type TimesThreeB = (program: FieldProgram, element: Element) => Element;

/**
 * lineDouble(f, T, P): T becomes 2T and f is multiplied by the tangent at T, taken at P.
 * lineAdd(f, T, P, Q): T becomes T + Q, Q affine, and f is multiplied by the line through both.
 */
function defineLines(library: FieldLibrary, twist: Twist, threeB: TimesThreeB): void {
  library.define("lineDouble", 3, (p) => {
    const target = p.parameter(1, 3);
    const [x, y, z] = target;
    if (x === undefined || y === undefined || z === undefined) return;
    const xy = p.multiply(x, y);
    const b = p.square(y);
    const c = p.square(z);
    const e = p.settle(threeB(p, c));
    const f = p.scale(e, 3);
    const h = p.subtract(p.square(p.add(y, z)), p.add(b, c));
    const sum = p.square(p.add(b, f));
    const difference = p.subtract(b, f);
    writeLine(p, twist, p.negate(h), p.scale(p.square(x), 3), p.subtract(e, b));
    const values = [
      p.multiply(p.scale(xy, 2), difference),
      p.subtract(sum, p.scale(p.square(e), 12)),
      p.multiply(p.scale(b, 4), h),
    ];
    target.forEach((element, index) => p.store(element, values[index] ?? element));
  });
  library.define("lineAdd", 4, (p) => {
    const target = p.parameter(1, 3);
    const [x, y, z] = target;
    const [qx, qy] = p.parameter(3, 2);
    if (x === undefined || y === undefined || z === undefined) return;
    if (qx === undefined || qy === undefined) return;
    const theta = p.subtract(y, p.multiply(qy, z));
    const lambda = p.subtract(x, p.multiply(qx, z));
    const d = p.square(lambda);
    const e = p.multiply(lambda, d);
    const f = p.multiply(z, p.square(theta));
    const g = p.multiply(x, d);
    const h = p.subtract(p.add(e, f), p.add(g, g));
    const constantTerm = p.subtract(p.multiply(theta, qx), p.multiply(lambda, qy));
    writeLine(p, twist, lambda, p.negate(theta), constantTerm);
    const values = [
      p.multiply(lambda, h),
      p.subtract(p.multiply(theta, p.subtract(g, h)), p.multiply(e, y)),
      p.multiply(z, e),
    ];
    target.forEach((element, index) => p.store(element, values[index] ?? element));
  });
}

/** Multiplies the accumulator (parameter 0) by a line, whose parts but one meet the point P. */
function writeLine(p: FieldProgram, twist: Twist, ofY: Element, ofX: Element, rest: Element): void {
  const accumulator = p.parameter(0, 6);
  const [px, py] = p.parameter(2, 2);
  if (px === undefined || py === undefined) return;
  const yTerm = p.multiplyLanes(ofY, py);
  const xTerm = p.multiplyLanes(ofX, px);
  const restTerm = p.settle(rest);
  const [a, b] = sexticsOf(accumulator);
  const sum = addSextic(p, a, b);
  if (twist === "divide") {
    // yTerm + xTerm w + rest v w
    const low = multiplySexticByElement(p, a, yTerm);
    const high = multiplySexticByPair(p, b, xTerm, restTerm);
    const both = multiplySexticByPair(p, sum, p.add(yTerm, xTerm), restTerm);
    const cross = subtractSextic(p, subtractSextic(p, both, low), high);
    storeTwelve(p, accumulator, addSextic(p, low, shiftSextic(p, high)), cross);
    return;
  }
  // rest + xTerm v + yTerm v w
  const low = multiplySexticByPair(p, a, restTerm, xTerm);
  const high = shiftSextic(p, multiplySexticByElement(p, b, yTerm));
  const both = multiplySexticByPair(p, sum, restTerm, p.add(xTerm, yTerm));
  const cross = subtractSextic(p, subtractSextic(p, both, low), high);
  storeTwelve(p, accumulator, addSextic(p, low, shiftSextic(p, high)), cross);
}

type Multiply = (program: FieldProgram, a: Element, b: Element) => Element;

/**
 * Complete formulas for y^2 = x^3 + b (Renes, Costello, Batina 2016, algorithms 7 and 9): right for
 * every pair of points, infinity included, since no point of these curves has order two.
 */
function definePoints(
  library: FieldLibrary,
  prefix: string,
  threeB: TimesThreeB,
  times: Multiply,
): void {
  library.define(`${prefix}Add`, 3, (p) => {
    const [x1, y1, z1] = p.parameter(1, 3);
    const [x2, y2, z2] = p.parameter(2, 3);
    if (x1 === undefined || y1 === undefined || z1 === undefined) return;
    if (x2 === undefined || y2 === undefined || z2 === undefined) return;
    const [xx, yy, zz] = [times(p, x1, x2), times(p, y1, y2), times(p, z1, z2)];
    const cross = (a: Element, b: Element, c: Element, d: Element, e: Element, f: Element) =>
      p.subtract(times(p, p.add(a, b), p.add(c, d)), p.add(e, f));
    const xy = cross(x1, y1, x2, y2, xx, yy);
    const yz = cross(y1, z1, y2, z2, yy, zz);
    const xz = p.settle(threeB(p, p.settle(cross(x1, z1, x2, z2, xx, zz))));
    const xxx = p.scale(xx, 3);
    const bzz = p.settle(threeB(p, zz));
    const sum = p.add(yy, bzz);
    const difference = p.subtract(yy, bzz);
    const values = [
      p.subtract(times(p, xy, difference), times(p, yz, xz)),
      p.add(times(p, difference, sum), times(p, xz, xxx)),
      p.add(times(p, sum, yz), times(p, xxx, xy)),
    ];
    p.parameter(0, 3).forEach((element, index) => p.store(element, values[index] ?? element));
  });
  // curveError(d, P): zero if and only if the affine P is on the curve, times three.
  library.define(`${prefix}CurveError`, 3, (p) => {
    const [x, y] = p.parameter(1, 2);
    const [one] = p.parameter(2, 1);
    const [target] = p.parameter(0, 1);
    if (x === undefined || y === undefined || one === undefined || target === undefined) return;
    const left = p.subtract(times(p, y, y), times(p, times(p, x, x), x));
    p.store(target, p.subtract(p.scale(left, 3), p.settle(threeB(p, one))));
  });
  library.define(`${prefix}Double`, 2, (p) => {
    const [x, y, z] = p.parameter(1, 3);
    if (x === undefined || y === undefined || z === undefined) return;
    const square = (a: Element): Element => (prefix === "twist" ? p.square(a) : times(p, a, a));
    const yy = square(y);
    const eight = p.scale(yy, 8);
    const bzz = p.settle(threeB(p, square(z)));
    const rest = p.subtract(yy, p.scale(bzz, 3));
    const values = [
      p.scale(times(p, rest, times(p, x, y)), 2),
      p.add(times(p, rest, p.add(yy, bzz)), times(p, bzz, eight)),
      times(p, times(p, y, z), eight),
    ];
    p.parameter(0, 3).forEach((element, index) => p.store(element, values[index] ?? element));
  });
}

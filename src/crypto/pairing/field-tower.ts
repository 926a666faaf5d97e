/**
 * Extensions of degree 6 (three elements, v^3 = xi) and 12 (two of those, w^2 = v) over a
 * quadratic one, as programs. Twelve-elements are lists of six: 1, v, v^2, w, vw, v^2 w.
 */
import type { Element, FieldProgram } from "./field-program.ts";

type Sextic = readonly [Element, Element, Element];

export function sexticsOf(twelve: readonly Element[]): readonly [Sextic, Sextic] {
  const [a, b, c, d, e, f] = twelve;
  if (a === undefined || b === undefined || c === undefined) throw new RangeError("too short");
  if (d === undefined || e === undefined || f === undefined) throw new RangeError("too short");
  return [
    [a, b, c],
    [d, e, f],
  ];
}

export function storeTwelve(
  program: FieldProgram,
  target: readonly Element[],
  low: Sextic,
  high: Sextic,
): void {
  const values = [...low, ...high];
  target.forEach((element, index) => {
    const value = values[index];
    if (value !== undefined) program.store(element, value);
  });
}

export function addSextic(p: FieldProgram, a: Sextic, b: Sextic): Sextic {
  return [p.add(a[0], b[0]), p.add(a[1], b[1]), p.add(a[2], b[2])];
}

export function subtractSextic(p: FieldProgram, a: Sextic, b: Sextic): Sextic {
  return [p.subtract(a[0], b[0]), p.subtract(a[1], b[1]), p.subtract(a[2], b[2])];
}

export function negateSextic(p: FieldProgram, a: Sextic): Sextic {
  return [p.negate(a[0]), p.negate(a[1]), p.negate(a[2])];
}

function settleSextic(p: FieldProgram, a: Sextic): Sextic {
  return [p.settle(a[0]), p.settle(a[1]), p.settle(a[2])];
}

/** The product with v. */
export function shiftSextic(p: FieldProgram, a: Sextic): Sextic {
  return [p.timesXi(a[2]), a[0], a[1]];
}

/** Six multiplications instead of nine (Karatsuba). */
export function multiplySextic(p: FieldProgram, a: Sextic, b: Sextic): Sextic {
  const low = p.multiply(a[0], b[0]);
  const middle = p.multiply(a[1], b[1]);
  const high = p.multiply(a[2], b[2]);
  const cross = (i: 0 | 1, j: 1 | 2, first: Element, second: Element): Element => {
    const product = p.multiply(p.add(a[i], a[j]), p.add(b[i], b[j]));
    return p.subtract(p.subtract(product, first), second);
  };
  return [
    p.add(p.timesXi(cross(1, 2, middle, high)), low),
    p.add(cross(0, 1, low, middle), p.timesXi(high)),
    p.add(cross(0, 2, low, high), middle),
  ];
}

/** Product with x + y v: five multiplications. */
export function multiplySexticByPair(p: FieldProgram, a: Sextic, x: Element, y: Element): Sextic {
  const low = p.multiply(a[0], x);
  const middle = p.multiply(a[1], y);
  const first = p.subtract(p.multiply(p.add(a[1], a[2]), y), middle);
  const second = p.multiply(p.add(a[0], a[1]), p.add(x, y));
  const third = p.subtract(p.multiply(p.add(a[0], a[2]), x), low);
  return [
    p.add(p.timesXi(first), low),
    p.subtract(p.subtract(second, low), middle),
    p.add(third, middle),
  ];
}

export function multiplySexticByElement(p: FieldProgram, a: Sextic, x: Element): Sextic {
  return [p.multiply(a[0], x), p.multiply(a[1], x), p.multiply(a[2], x)];
}

export function multiplyTwelve(
  p: FieldProgram,
  target: readonly Element[],
  left: readonly Element[],
  right: readonly Element[],
): void {
  const [a0, a1] = sexticsOf(left);
  const [b0, b1] = sexticsOf(right);
  const low = multiplySextic(p, a0, b0);
  const high = multiplySextic(p, a1, b1);
  const both = multiplySextic(p, addSextic(p, a0, a1), addSextic(p, b0, b1));
  const cross = subtractSextic(p, subtractSextic(p, both, low), high);
  storeTwelve(p, target, addSextic(p, low, shiftSextic(p, high)), cross);
}

/** (a + bw)^2 = (a + b)(a + vb) - ab - vab, and 2ab w. */
export function squareTwelve(
  p: FieldProgram,
  target: readonly Element[],
  source: readonly Element[],
): void {
  const [a, b] = sexticsOf(source);
  const product = settleSextic(p, multiplySextic(p, a, b));
  const both = multiplySextic(p, addSextic(p, a, b), addSextic(p, a, shiftSextic(p, b)));
  const low = subtractSextic(p, subtractSextic(p, both, product), shiftSextic(p, product));
  storeTwelve(p, target, low, addSextic(p, product, product));
}

/** Squaring where the norm is one, as it is after the easy part (Granger and Scott). */
export function squareCyclotomic(
  p: FieldProgram,
  target: readonly Element[],
  source: readonly Element[],
): void {
  const [[a0, a1, a2], [b0, b1, b2]] = sexticsOf(source);
  const squarePair = (x: Element, y: Element): readonly [Element, Element] => {
    const xx = p.square(x);
    const yy = p.square(y);
    const sum = p.square(p.add(x, y));
    return [p.add(xx, p.timesXi(yy)), p.subtract(p.subtract(sum, xx), yy)];
  };
  const threeMinusTwo = (x: Element, y: Element): Element => p.subtract(p.scale(x, 3), p.add(y, y));
  const threePlusTwo = (x: Element, y: Element): Element => p.add(p.scale(x, 3), p.add(y, y));
  const [s0, s1] = squarePair(a0, b1);
  const [s2, s3] = squarePair(b0, a2);
  const [s4, s5] = squarePair(a1, b2);
  const turned = p.timesXi(p.settle(s5));
  storeTwelve(
    p,
    target,
    [threeMinusTwo(s0, a0), threeMinusTwo(s2, a1), threeMinusTwo(s4, a2)],
    [threePlusTwo(turned, b0), threePlusTwo(s1, b1), threePlusTwo(s3, b2)],
  );
}

import type { Pair } from "./extension-field.ts";

/**
 * Splits scalars modulo `order` into a + b lambda with a and b of half the length (Gallant,
 * Lambert, Vanstone): the nearest vector of the lattice of pairs that stand for zero.
 */
export function createScalarSplitter(order: bigint, lambda: bigint): (scalar: bigint) => Pair {
  const [[a1, b1], [a2, b2]] = shortBasis(order, lambda);
  return (scalar) => {
    const c1 = divideRounded(b2 * scalar, order);
    const c2 = divideRounded(-b1 * scalar, order);
    return [scalar - c1 * a1 - c2 * a2, -c1 * b1 - c2 * b2];
  };
}

/**
 * Euclid's remainders s order + t lambda = r give the vectors (r, -t). The first below the root of
 * the order is short, and so is one of its neighbours.
 */
function shortBasis(order: bigint, lambda: bigint): readonly [Pair, Pair] {
  let [previous, current]: [Pair, Pair] = [
    [order, 0n],
    [lambda, 1n],
  ];
  while (current[0] * current[0] > order) {
    const quotient = previous[0] / current[0];
    const next: Pair = [previous[0] - quotient * current[0], previous[1] - quotient * current[1]];
    [previous, current] = [current, next];
  }
  const quotient = previous[0] / current[0];
  const next: Pair = [previous[0] - quotient * current[0], previous[1] - quotient * current[1]];
  const neighbour = length(previous) < length(next) ? previous : next;
  const [first, second]: [Pair, Pair] = [
    [current[0], -current[1]],
    [neighbour[0], -neighbour[1]],
  ];
  // The rounding above needs a1 b2 - a2 b1 = order, not its negative.
  const determinant = first[0] * second[1] - second[0] * first[1];
  return determinant > 0n ? [first, second] : [first, [-second[0], -second[1]]];
}

function length([a, b]: Pair): bigint {
  return a * a + b * b;
}

function divideRounded(value: bigint, divisor: bigint): bigint {
  const doubled = 2n * value + divisor;
  const quotient = doubled / (2n * divisor);
  return doubled < 0n && quotient * 2n * divisor !== doubled ? quotient - 1n : quotient;
}

/**
 * Multiplication in a prime field and in its quadratic extension (i^2 = -1), in WebAssembly.
 *
 * JavaScript's BigInt needs a microsecond for what a register machine does in 50 ns, and the
 * multiplier that WebAssembly reaches through i64 makes one 32-bit product a cycle. Doubles make
 * four: a fused multiply-add on two lanes, twice a cycle. So an element of the extension is n limbs
 * of w bits, each limb a pair of doubles (one lane per coefficient) that hold integers exactly.
 *
 * Product of two limbs, exactly, as high * 2^w + low (T. Emmart's method): adding 1.5 * 2^(52+w) in
 * a fused multiply-add rounds the product to a multiple of 2^w, and the bits of that sum, read as
 * an integer, are a constant plus `high`. A second fused multiply-add leaves `low` the same way.
 * The bits are summed as integers per column; the constants are taken off by each column's start.
 *
 * Values are in Montgomery form with R = 2^(n w). Limbs are balanced: after a multiplication they
 * are within 2^(w-1), the value is about the prime at most. Sums and differences do not carry; an
 * element that is the sum of k others has weight k, and a product of weights a and b needs
 * a * b <= 2^(53 - w) (see FieldProgram, which keeps count and carries where it must).
 *
 * The method needs fused arithmetic, which WebAssembly calls relaxed: `isFused` asks the machine.
 */
import type { Local, WasmAssembler, WasmFunction } from "../wasm/wasm-assembler.ts";

export type FieldShape = {
  readonly prime: bigint;
  readonly limbCount: number;
  readonly limbBits: number;
};

/** The functions that work on elements in memory; all take addresses, the result's first. */
export type FieldFunctions = {
  /** Product in the extension. */
  readonly multiply: WasmFunction;
  /** Square in the extension. */
  readonly square: WasmFunction;
  /** Two products in the prime field, lane by lane. */
  readonly multiplyLanes: WasmFunction;
  readonly add: WasmFunction;
  readonly subtract: WasmFunction;
  /** Balanced limbs, and a value within half the prime: multiples of the prime are taken off. */
  readonly settle: WasmFunction;
  /** Coefficients exchanged. */
  readonly swap: WasmFunction;
  /** The product with i: (-b, a) of (a, b). */
  readonly turn: WasmFunction;
  /** The first coefficient of one element with the second of another. */
  readonly join: WasmFunction;
  /** Coefficients (a, b) become (a, -b). */
  readonly conjugate: WasmFunction;
  /** Product with a small integer, by value: it multiplies the weight. */
  readonly scale: (factor: number) => WasmFunction;
};

export const LANE_PAIR_SIZE = 16;

export function defineField(assembler: WasmAssembler, shape: FieldShape): FieldFunctions {
  const three = ["i32", "i32", "i32"] as const;
  const two = ["i32", "i32"] as const;
  const each = (write: (body: WasmFunction, limb: number) => void) => (body: WasmFunction) => {
    for (let limb = 0; limb < shape.limbCount; limb++) {
      body.get(body.parameter(0));
      write(body, limb);
      body.storePair(LANE_PAIR_SIZE * limb);
    }
  };
  const operand = (body: WasmFunction, position: number, limb: number): WasmFunction =>
    body.get(body.parameter(position)).loadPair(LANE_PAIR_SIZE * limb);
  return {
    multiply: assembler.define("multiply", three, (body) => writeMultiply(body, shape)),
    square: assembler.define("square", two, (body) => writeSquare(body, shape)),
    multiplyLanes: assembler.define("multiplyLanes", three, (body) => writeLanes(body, shape)),
    add: assembler.define(
      "add",
      three,
      each((body, limb) => operand(operand(body, 1, limb), 2, limb).op("f64x2.add")),
    ),
    subtract: assembler.define(
      "subtract",
      three,
      each((body, limb) => operand(operand(body, 1, limb), 2, limb).op("f64x2.sub")),
    ),
    settle: assembler.define("settle", two, (body) => writeSettle(body, shape)),
    swap: assembler.define(
      "swap",
      two,
      each((body, limb) => operand(operand(body, 1, limb), 1, limb).shuffle(1, 0)),
    ),
    turn: assembler.define(
      "turn",
      two,
      each((body, limb) => {
        operand(operand(body, 1, limb), 1, limb)
          .shuffle(1, 0)
          .constant(SIGN_BIT, 0n)
          .op("v128.xor");
      }),
    ),
    join: assembler.define(
      "join",
      three,
      each((body, limb) => operand(operand(body, 1, limb), 2, limb).shuffle(0, 3)),
    ),
    conjugate: assembler.define(
      "conjugate",
      two,
      each((body, limb) => operand(body, 1, limb).constant(0n, SIGN_BIT).op("v128.xor")),
    ),
    scale: (factor) =>
      assembler.define(
        `scale${factor}`,
        two,
        each((body, limb) => {
          operand(body, 1, limb);
          constant(body, factor);
          body.op("f64x2.mul");
        }),
      ),
  };
}

const SIGN_BIT = 1n << 63n;
/** Bits of 2^52 and of 1.5 * 2^52. */
const UNIT_BITS = 0x433n << 52n;
const LOW_BITS = (0x433n << 52n) | (1n << 51n);
/** Keeps a column positive, so that a logical shift carries it. */
const COLUMN_BIAS = 1n << 62n;

type Operand = (limb: number) => void;
/** Two operands whose limb products are summed into the columns. */
type Factors = readonly [Operand, Operand];

function writeMultiply(body: WasmFunction, shape: FieldShape): void {
  const { limbCount } = shape;
  const first = body.locals("v128", limbCount);
  const second = body.locals("v128", limbCount);
  const swapped = body.locals("v128", limbCount);
  for (let limb = 0; limb < limbCount; limb++) {
    const offset = LANE_PAIR_SIZE * limb;
    const [a, b, c] = [local(first, limb), local(second, limb), local(swapped, limb)];
    // (x0, x0), (-x1, x1) and (y1, y0): (x0 y0 - x1 y1, x0 y1 + x1 y0) are then two lane products.
    body.get(body.parameter(1)).loadPair(offset).tee(c).get(c).shuffle(0, 0).set(a);
    body.get(c).get(c).shuffle(1, 1).constant(SIGN_BIT, 0n).op("v128.xor").set(b);
    body.get(body.parameter(2)).loadPair(offset).tee(c).get(c).shuffle(1, 0).set(c);
  }
  const straight: Factors = [
    (limb) => body.get(local(first, limb)),
    (limb) => body.get(body.parameter(2)).loadPair(LANE_PAIR_SIZE * limb),
  ];
  const crossed: Factors = [
    (limb) => body.get(local(second, limb)),
    (limb) => body.get(local(swapped, limb)),
  ];
  writeReducedProducts(body, shape, [straight, crossed]);
}

/** (x0 + x1)(x0 - x1) and 2 x0 x1. */
function writeSquare(body: WasmFunction, shape: FieldShape): void {
  const left = body.locals("v128", shape.limbCount);
  const right = body.locals("v128", shape.limbCount);
  const pair = body.local("v128");
  for (let limb = 0; limb < shape.limbCount; limb++) {
    body
      .get(body.parameter(1))
      .loadPair(LANE_PAIR_SIZE * limb)
      .set(pair);
    body.get(pair).get(pair).shuffle(0, 0);
    body.get(pair).get(pair).shuffle(1, 0).op("f64x2.add").set(local(left, limb));
    body.get(pair).constant(0n, 0n).shuffle(0, 2);
    body.get(pair).get(pair).shuffle(1, 1).constant(SIGN_BIT, 0n).op("v128.xor");
    body.op("f64x2.add").set(local(right, limb));
  }
  const factors: Factors = [
    (limb) => body.get(local(left, limb)),
    (limb) => body.get(local(right, limb)),
  ];
  writeReducedProducts(body, shape, [factors]);
}

function writeLanes(body: WasmFunction, shape: FieldShape): void {
  const factors: Factors = [
    (limb) => body.get(body.parameter(1)).loadPair(LANE_PAIR_SIZE * limb),
    (limb) => body.get(body.parameter(2)).loadPair(LANE_PAIR_SIZE * limb),
  ];
  writeReducedProducts(body, shape, [factors]);
}

/**
 * Montgomery reduction of the sum of the products, column by column. The multiple that clears a
 * column would cost a product of its own; for all columns but the last it is the column itself,
 * because what is added is a multiple of N = prime * c, chosen to be -1 modulo 2^w. N is w bits
 * longer than the prime, which the last column's reduction, by the prime proper, makes harmless.
 */
function writeReducedProducts(
  body: WasmFunction,
  shape: FieldShape,
  factorSets: readonly Factors[],
): void {
  const { limbCount: count } = shape;
  const columns = new Columns(body, shape, factorSets.length);
  const multiples = body.locals("v128", count);
  const result = body.locals("v128", count);
  columns.open(0);
  for (let column = 0; column < 2 * count - 1; column++) {
    columns.open(column + 1);
    for (const [left, right] of factorSets) {
      const last = Math.min(column, count - 1);
      for (let limb = Math.max(0, column - count + 1); limb <= last; limb++) {
        columns.addProduct(
          () => left(limb),
          () => right(column - limb),
        );
      }
    }
    for (const { multiple, limb } of reductionProducts(shape, column)) {
      if (multiple === column) columns.writeLastMultiple(local(multiples, column));
      columns.addProduct(
        () => body.get(local(multiples, multiple)),
        () => constant(body, limb),
      );
    }
    if (column < count - 1) columns.writeLimb(local(multiples, column));
    if (column >= count) columns.writeLimb(local(result, column - count));
    columns.carry();
  }
  columns.writeTopLimb(local(result, count - 1));
  result.forEach((limb, index) => {
    body
      .get(body.parameter(0))
      .get(limb)
      .storePair(LANE_PAIR_SIZE * index);
  });
}

type ReductionProduct = { readonly multiple: number; readonly limb: number };

/** The limbs that the multiples found so far are multiplied with in a column. */
function reductionProducts(shape: FieldShape, column: number): readonly ReductionProduct[] {
  const { prime, limbCount, limbBits } = shape;
  const bits = BigInt(limbBits);
  const inverse = BigInt.asUintN(limbBits, negatedInverse(shape));
  const shifted = (prime * inverse + 1n) >> bits;
  const limbOf = (value: bigint, limb: number): number =>
    Number(BigInt.asUintN(limbBits, value >> (bits * BigInt(limb))));
  const products: ReductionProduct[] = [];
  for (let multiple = 0; multiple < limbCount - 1; multiple++) {
    const limb = column - 1 - multiple;
    if (limb < 0 || limb >= limbCount) continue;
    products.push({ multiple, limb: limbOf(shifted, limb) });
  }
  const limb = column - (limbCount - 1);
  if (limb >= 0 && limb < limbCount) {
    products.push({ multiple: limbCount - 1, limb: limbOf(prime, limb) });
  }
  return products;
}

/** The running sums of a product: the column at hand and the next one. */
class Columns {
  readonly #body: WasmFunction;
  readonly #shape: FieldShape;
  readonly #setCount: number;
  readonly #rounded: Local;
  readonly #left: Local;
  readonly #right: Local;
  readonly #mask: bigint;
  #current: Local;
  #next: Local;

  constructor(body: WasmFunction, shape: FieldShape, setCount: number) {
    this.#body = body;
    this.#shape = shape;
    this.#setCount = setCount;
    this.#mask = (1n << BigInt(shape.limbBits)) - 1n;
    this.#rounded = body.local("v128");
    this.#left = body.local("v128");
    this.#right = body.local("v128");
    this.#current = body.local("v128");
    this.#next = body.local("v128");
  }

  /** Starts the next column at what cancels the constants that will be summed into it. */
  open(column: number): void {
    const { limbCount, limbBits } = this.#shape;
    const products = (at: number): bigint => {
      const pairs = Math.max(0, Math.min(at, 2 * limbCount - 2 - at) + 1);
      return BigInt(pairs * this.#setCount + reductionProducts(this.#shape, at).length);
    };
    const highBits = doubleBits(highConstant(limbBits));
    let start = -(products(column) * LOW_BITS) - products(column - 1) * highBits;
    if (column > 0) start -= COLUMN_BIAS >> BigInt(limbBits);
    start += column === 2 * limbCount - 1 ? LOW_BITS : COLUMN_BIAS;
    // Half a limb more, taken off again by writeLimb, makes the part cut off balanced.
    const isBalanced = column !== limbCount - 1 && column !== 2 * limbCount - 1;
    if (isBalanced) start += 1n << BigInt(limbBits - 1);
    const bits = BigInt.asUintN(64, start);
    this.#body.constant(bits, bits).set(column === 0 ? this.#current : this.#next);
  }

  addProduct(left: () => void, right: () => void): void {
    const body = this.#body;
    const high = highConstant(this.#shape.limbBits);
    left();
    body.tee(this.#left);
    right();
    body.tee(this.#right);
    constant(body, high);
    body.op("f64x2.relaxed_madd").set(this.#rounded);
    body.get(this.#next).get(this.#rounded).op("i64x2.add").set(this.#next);
    body.get(this.#left).get(this.#right);
    constant(body, high + 1.5 * 2 ** 52);
    body.get(this.#rounded).op("f64x2.sub", "f64x2.relaxed_madd");
    body.get(this.#current).op("i64x2.add").set(this.#current);
  }

  /** The multiple of the prime that clears this column: the column times -1/prime modulo 2^w. */
  writeLastMultiple(multiple: Local): void {
    const body = this.#body;
    const high = highConstant(this.#shape.limbBits);
    const inverse = Number(negatedInverse(this.#shape));
    this.#lowPart(0);
    body.tee(this.#left);
    constant(body, inverse);
    constant(body, high);
    body.op("f64x2.relaxed_madd").set(this.#rounded);
    body.get(this.#left);
    constant(body, inverse);
    constant(body, high);
    body.get(this.#rounded).op("f64x2.sub", "f64x2.relaxed_madd").set(multiple);
  }

  writeLimb(limb: Local): void {
    this.#lowPart(2 ** (this.#shape.limbBits - 1));
    this.#body.set(limb);
  }

  writeTopLimb(limb: Local): void {
    this.#body.get(this.#current);
    constant(this.#body, 1.5 * 2 ** 52);
    this.#body.op("f64x2.sub").set(limb);
  }

  /** Goes on to the next column, with what overflows this one. */
  carry(): void {
    const body = this.#body;
    body.get(this.#current).i32(this.#shape.limbBits).op("i64x2.shr_u");
    body.get(this.#next).op("i64x2.add").set(this.#next);
    [this.#current, this.#next] = [this.#next, this.#current];
  }

  #lowPart(offset: number): void {
    const body = this.#body;
    body.get(this.#current).constant(this.#mask, this.#mask).op("v128.and");
    body.constant(UNIT_BITS, UNIT_BITS).op("v128.or");
    constant(body, 2 ** 52 + offset);
    body.op("f64x2.sub");
  }
}

/**
 * Takes off the multiple of the prime that the top limb tells, then rounds off what exceeds each
 * limb and hands it on. Exact while weight and multiple together are within 2^(54 - w).
 */
function writeSettle(body: WasmFunction, shape: FieldShape): void {
  const { limbCount, limbBits } = shape;
  const carried = body.local("v128");
  const limbSum = body.local("v128");
  const multiple = body.local("v128");
  const primeLimbs = balancedLimbs(shape);
  body.get(body.parameter(1)).loadPair(LANE_PAIR_SIZE * (limbCount - 1));
  constant(body, -(2 ** (limbBits * (limbCount - 1))) / Number(shape.prime));
  body.op("f64x2.mul");
  // Adding and taking off 1.5 * 2^52 rounds to an integer.
  constant(body, 1.5 * 2 ** 52);
  body.op("f64x2.add");
  constant(body, 1.5 * 2 ** 52);
  body.op("f64x2.sub").set(multiple);
  for (let limb = 0; limb < limbCount; limb++) {
    body.get(body.parameter(0)).get(multiple);
    constant(body, primeLimbs[limb] ?? 0);
    body.get(body.parameter(1)).loadPair(LANE_PAIR_SIZE * limb);
    body.op("f64x2.relaxed_madd");
    if (limb > 0) body.get(carried).op("f64x2.add");
    if (limb < limbCount - 1) {
      // Adding and taking off 1.5 * 2^(52+w) rounds to a multiple of 2^w.
      body.tee(limbSum);
      constant(body, highConstant(limbBits));
      body.op("f64x2.add");
      constant(body, highConstant(limbBits));
      body.op("f64x2.sub").tee(carried);
      constant(body, 2 ** -limbBits);
      body.op("f64x2.mul");
      body.get(limbSum).get(carried).op("f64x2.sub");
      body.set(limbSum).set(carried).get(limbSum);
    }
    body.storePair(LANE_PAIR_SIZE * limb);
  }
}

/** The prime's limbs within 2^(w-1), as products with small integers are then exact. */
function balancedLimbs({ prime, limbCount, limbBits }: FieldShape): readonly number[] {
  const limbs: number[] = [];
  let rest = prime;
  for (let limb = 0; limb < limbCount - 1; limb++) {
    const low = BigInt.asIntN(limbBits, rest);
    limbs.push(Number(low));
    rest = (rest - low) >> BigInt(limbBits);
  }
  return [...limbs, Number(rest)];
}

function highConstant(limbBits: number): number {
  return 1.5 * 2 ** (52 + limbBits);
}

/** -1/prime modulo 2^w, nearest to zero. */
function negatedInverse({ prime, limbBits }: FieldShape): bigint {
  let inverse = 1n;
  for (let step = 0; step < 6; step++) {
    inverse = BigInt.asUintN(limbBits, inverse * (2n - prime * inverse));
  }
  return BigInt.asIntN(limbBits, -inverse);
}

function constant(body: WasmFunction, value: number): void {
  const bits = doubleBits(value);
  body.constant(bits, bits);
}

function doubleBits(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n;
}

function local(locals: readonly Local[], index: number): Local {
  const found = locals[index];
  if (found === undefined) throw new RangeError(`no limb ${index}`);
  return found;
}

/**
 * Products modulo any odd number, in WebAssembly: Montgomery's method on limbs of 28 bits, whose
 * products can be summed by the hundred in 64 bits, so that only the columns carry. Values are
 * below twice the modulus; R is above four times it, which makes the last subtraction needless.
 */
import { WasmAssembler, type Local, type WasmFunction } from "../wasm/wasm-assembler.ts";
import { instantiateWasm, type WasmCall } from "../wasm/wasm-instance.ts";
import type { LimbPlace } from "./limb-bytes.ts";

export const LIMB_BITS = 28;
const LIMB_MASK = (1n << 28n) - 1n;
const WORD = 8;
/** Sums of 2 * 127 products of 56 bits and a carry fit into 64. */
export const LIMB_COUNT_MAX = 127;
/** Up to here, each size has code of its own without loops. */
const UNROLLED_COUNT_MAX = 19;
/** Zeros on both sides of every number let the loops run in steps of four. */
const PADDING = 4 * WORD;
const STEP = 4;

const MODULUS = 0;
const MULTIPLES = 1;
/** Numbers the caller may use: a table of 64 and two more. */
const SLOT_COUNT = 66;

export type MontgomeryKernel = {
  /** Room to convert in: as many limbs, and bytes for all their bits. */
  readonly limbs: LimbPlace;
  readonly bytes: Uint8Array;
  /** The modulus and -1/modulus modulo 2^28. */
  setModulus(limbs: Float64Array, inverse: number): void;
  setSlot(slot: number, limbs: Float64Array): void;
  /** The number one, which takes a value out of Montgomery form. */
  setOne(slot: number): void;
  readSlot(slot: number, limbs: Float64Array): void;
  copySlot(target: number, source: number): void;
  multiply(target: number, a: number, b: number): void;
  /** Squares a slot in place, so many times. */
  squareTimes(slot: number, count: number): void;
};

export function createMontgomeryKernel(limbCount: number): MontgomeryKernel {
  const size = WORD * limbCount + PADDING;
  const addressOf = (index: number): number => INVERSE_SIZE + PADDING + index * size;
  const slotAddress = (slot: number): number => addressOf(slot + 2);
  const layout = { modulus: addressOf(MODULUS), multiples: addressOf(MULTIPLES), limbCount };
  const assembler = new WasmAssembler(addressOf(SLOT_COUNT + 2));
  const multiplication = assembler.define("multiply", ["i32", "i32", "i32"], (body) => {
    if (limbCount <= UNROLLED_COUNT_MAX) writeUnrolled(body, layout);
    else writeLooped(body, layout);
  });
  assembler.define("squareTimes", ["i32", "i32"], (body) => {
    const [slot, left] = [body.parameter(0), body.parameter(1)];
    body.loop(() => {
      body.get(slot).get(slot).get(slot).call(multiplication);
      body.get(left).i32(1).op("i32.sub").tee(left).branchIf(0);
    });
  });
  const instance = instantiateWasm(assembler.encode());
  const words = new Uint32Array(instance.memory);
  const write = (address: number, limbs: Float64Array): void => {
    for (let limb = 0; limb < limbCount; limb++) words[address / 4 + 2 * limb] = limbs[limb] ?? 0;
  };
  const multiply: WasmCall = instance.function("multiply");
  const squareTimes: WasmCall = instance.function("squareTimes");
  const limbs = new Float64Array(limbCount);
  return {
    limbs: { limbs, start: 0, stride: 1, count: limbCount, bits: LIMB_BITS },
    bytes: new Uint8Array(8 * Math.ceil((LIMB_BITS * limbCount) / 64)),
    setModulus: (limbs, inverse) => {
      write(layout.modulus, limbs);
      words[0] = inverse;
    },
    setSlot: (slot, limbs) => write(slotAddress(slot), limbs),
    setOne: (slot) => {
      const start = slotAddress(slot) / 4;
      words.fill(0, start, start + 2 * limbCount);
      words[start] = 1;
    },
    readSlot: (slot, into) => {
      const start = slotAddress(slot) / 4;
      for (let limb = 0; limb < limbCount; limb++) into[limb] = words[start + 2 * limb] ?? 0;
    },
    copySlot: (target, source) => {
      const start = slotAddress(source) / 4;
      words.copyWithin(slotAddress(target) / 4, start, start + 2 * limbCount);
    },
    multiply: (target, a, b) => multiply(slotAddress(target), slotAddress(a), slotAddress(b)),
    squareTimes: (slot, count) => squareTimes(slotAddress(slot), count),
  };
}

const INVERSE_SIZE = WORD;

type Layout = {
  readonly modulus: number;
  readonly multiples: number;
  readonly limbCount: number;
};

/** Column by column: all limb products of the column at once, then one carry. */
function writeUnrolled(body: WasmFunction, { modulus, limbCount }: Layout): void {
  const [target, a, b] = [body.parameter(0), body.parameter(1), body.parameter(2)];
  const multiples = body.locals("i64", limbCount);
  const result = body.locals("i64", limbCount);
  const sum = body.local("i64");
  const inverse = body.local("i64");
  body.i32(0).load(0).set(inverse).i64(0n).set(sum);
  for (let column = 0; column < 2 * limbCount - 1; column++) {
    const first = Math.max(0, column - limbCount + 1);
    const last = Math.min(column, limbCount - 1);
    body.get(sum);
    for (let limb = first; limb <= last; limb++) {
      body
        .get(a)
        .load(WORD * limb)
        .get(b)
        .load(WORD * (column - limb));
      body.op("i64.mul", "i64.add");
    }
    body.set(sum);
    const lastMultiple = Math.min(column - 1, limbCount - 1);
    if (first <= lastMultiple) body.i64(0n);
    for (let limb = first; limb <= lastMultiple; limb++) {
      body
        .get(at(multiples, limb))
        .i32(0)
        .load(modulus + WORD * (column - limb));
      body.op("i64.mul", "i64.add");
    }
    if (first <= lastMultiple) body.get(sum).op("i64.add").set(sum);
    if (column < limbCount) {
      const multiple = at(multiples, column);
      body.get(sum).get(inverse).op("i64.mul").i64(LIMB_MASK).op("i64.and").set(multiple);
      body.get(sum).get(multiple).i32(0).load(modulus).op("i64.mul", "i64.add").set(sum);
    } else {
      body
        .get(sum)
        .i64(LIMB_MASK)
        .op("i64.and")
        .set(at(result, column - limbCount));
    }
    body.get(sum).i64(28n).op("i64.shr_u").set(sum);
  }
  body.get(sum).set(at(result, limbCount - 1));
  result.forEach((limb, index) =>
    body
      .get(target)
      .get(limb)
      .store(WORD * index),
  );
}

/** The same with loops of four products of either kind, for numbers too long to unroll. */
function writeLooped(body: WasmFunction, layout: Layout): void {
  const { limbCount, multiples } = layout;
  const target = body.parameter(0);
  const column = body.local("i32");
  const sum = body.local("i64");
  const multiple = body.local("i64");
  const columnLoop = createColumnLoop(body, layout, sum);
  body.i64(0n).set(sum);
  for (let limb = 0; limb < limbCount; limb++)
    body
      .i32(multiples)
      .i64(0n)
      .store(WORD * limb);
  body.i32(0).set(column);
  body.loop(() => {
    columnLoop(
      () => body.i32(0),
      column,
      () => body.get(column),
    );
    body.get(sum).i32(0).load(0).op("i64.mul").i64(LIMB_MASK).op("i64.and").set(multiple);
    body.get(column).i32(3).op("i32.shl").get(multiple).store(multiples);
    body.get(sum).get(multiple).i32(0).load(layout.modulus).op("i64.mul", "i64.add");
    body.i64(28n).op("i64.shr_u").set(sum);
    body.get(column).i32(1).op("i32.add").tee(column).i32(limbCount).op("i32.lt_s").branchIf(0);
  });
  body.loop(() => {
    columnLoop(
      () =>
        body
          .get(column)
          .i32(limbCount - 1)
          .op("i32.sub"),
      column,
      () =>
        body
          .i32(2 * limbCount - 2)
          .get(column)
          .op("i32.sub"),
    );
    body.get(column).i32(limbCount).op("i32.sub").i32(3).op("i32.shl");
    body.get(target).op("i32.add").get(sum).i64(LIMB_MASK).op("i64.and").store(0);
    body.get(sum).i64(28n).op("i64.shr_u").set(sum);
    body.get(column).i32(1).op("i32.add").tee(column);
    body
      .i32(2 * limbCount - 1)
      .op("i32.lt_s")
      .branchIf(0);
  });
  body
    .get(target)
    .get(sum)
    .store(WORD * (limbCount - 1));
}

type ColumnLoop = (first: () => void, column: Local, lengthLess1: () => void) => void;

/** Adds the products of a column, from limb `first` on, to the sum. */
function createColumnLoop(body: WasmFunction, layout: Layout, sum: Local): ColumnLoop {
  const [a, b] = [body.parameter(1), body.parameter(2)];
  const [up, down, left] = [body.local("i32"), body.local("i32"), body.local("i32")];
  const other = body.local("i64");
  const [aAt, bAt] = [body.local("i32"), body.local("i32")];
  return (first, column, lengthLess1) => {
    first();
    body.i32(3).op("i32.shl").set(up);
    // The last of the four limbs that go down, so that all distances are upwards.
    body.get(column).i32(3).op("i32.shl").get(up).op("i32.sub");
    body
      .i32(WORD * (STEP - 1))
      .op("i32.sub")
      .set(down);
    lengthLess1();
    body.i32(2).op("i32.shr_u").i32(1).op("i32.add").set(left);
    body.i64(0n).set(other);
    body.get(a).get(up).op("i32.add").set(aAt).get(b).get(down).op("i32.add").set(bAt);
    body.get(up).i32(layout.multiples).op("i32.add").set(up);
    body.get(down).i32(layout.modulus).op("i32.add").set(down);
    body.loop(() => {
      for (const [total, rising, falling] of [
        [sum, aAt, bAt],
        [other, up, down],
      ] as const) {
        body.get(total);
        for (let step = 0; step < STEP; step++) {
          body
            .get(rising)
            .load(WORD * step)
            .get(falling)
            .load(WORD * (STEP - 1 - step));
          body.op("i64.mul", "i64.add");
        }
        body.set(total);
        body
          .get(rising)
          .i32(WORD * STEP)
          .op("i32.add")
          .set(rising);
        body
          .get(falling)
          .i32(WORD * STEP)
          .op("i32.sub")
          .set(falling);
      }
      body.get(left).i32(1).op("i32.sub").tee(left).branchIf(0);
    });
    body.get(sum).get(other).op("i64.add").set(sum);
  };
}

function at(locals: readonly Local[], index: number): Local {
  const found = locals[index];
  if (found === undefined) throw new RangeError(`no limb ${index}`);
  return found;
}

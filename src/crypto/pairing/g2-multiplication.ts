import type { G2Group } from "./g2-group.ts";
import type { G2Affine } from "./pairing-product.ts";

export type G2Term = { readonly point: G2Affine; readonly scalar: bigint };

const WINDOW_BITS = 4;
const TABLE_ENTRIES = 1 << WINDOW_BITS;
/** A scalar has four digits in base `parameter`, which is below 2^64. */
const DIGIT_COUNT = 4;
const WINDOW_COUNT = 16;
const COORDINATES = 3;
/** Memory holds the tables of so many terms at once. */
const BATCH_TERMS_MAX = 16;

/**
 * The sum of points times scalars on a curve whose p-power map is the multiplication with
 * -parameter: the digits of a scalar in base `parameter` are run on the images of its point, so a
 * quarter of the doublings is left (Galbraith, Lin, Scott). Undefined is infinity.
 */
export function multiplySumG2(
  group: G2Group,
  terms: readonly G2Term[],
  parameter: bigint,
): G2Affine | undefined {
  const mark = group.engine.mark();
  const total = group.copyOf(group.infinity);
  for (let start = 0; start < terms.length; start += BATCH_TERMS_MAX) {
    const batchMark = group.engine.mark();
    const batch = multiplyBatch(group, terms.slice(start, start + BATCH_TERMS_MAX), parameter);
    group.add(total, total, batch);
    group.engine.release(batchMark);
  }
  const sum = group.read(total);
  group.engine.release(mark);
  return sum;
}

function multiplyBatch(group: G2Group, terms: readonly G2Term[], parameter: bigint): number {
  const prepared = terms.flatMap(({ point, scalar }) => {
    const tables = [createTable(group, point)];
    for (let index = 1; index < DIGIT_COUNT; index++) tables.push(imageOf(group, tables.at(-1)));
    let rest = scalar;
    return tables.map((table) => {
      const digits = windowsOf(rest % parameter);
      rest /= parameter;
      return { table, digits };
    });
  });
  const entrySize = COORDINATES * group.engine.elementSize;
  const accumulator = group.copyOf(group.infinity);
  for (let window = WINDOW_COUNT - 1; window >= 0; window--) {
    for (let bit = 0; bit < WINDOW_BITS; bit++) group.double(accumulator, accumulator);
    for (const { table, digits } of prepared) {
      const digit = digits[window] ?? 0;
      if (digit !== 0) group.add(accumulator, accumulator, table + digit * entrySize);
    }
  }
  return accumulator;
}

/** 0 .. 15 times the point, in a row. */
function createTable(group: G2Group, point: G2Affine): number {
  const entrySize = COORDINATES * group.engine.elementSize;
  const table = group.copyOf(group.infinity);
  const base = group.write(point);
  for (let entry = 2; entry < TABLE_ENTRIES; entry++) {
    const place = group.allocate();
    if (entry % 2 === 0) group.double(place, table + (entry / 2) * entrySize);
    else group.add(place, place - entrySize, base);
  }
  return table;
}

/** The same multiples of `parameter` times the point. */
function imageOf(group: G2Group, table: number | undefined): number {
  const source = table ?? group.infinity;
  const entrySize = COORDINATES * group.engine.elementSize;
  const image = group.copyOf(group.infinity);
  for (let entry = 1; entry < TABLE_ENTRIES; entry++) {
    const place = group.allocate();
    group.frobenius(place, source + entry * entrySize);
    group.negate(place, place);
  }
  return image;
}

function windowsOf(value: bigint): Uint8Array {
  const windows = new Uint8Array(WINDOW_COUNT);
  const text = value.toString(16);
  for (let index = 0; index < text.length; index++) {
    windows[index] = Number.parseInt(text[text.length - 1 - index] ?? "0", 16);
  }
  return windows;
}

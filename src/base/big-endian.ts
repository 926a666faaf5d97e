/**
 * Unsigned integers <-> bigint, big-endian. Up to 32 bytes, the size of nearly all, one shared
 * scratch word keeps both directions free of allocation other than the bigint itself; longer ones
 * are taken by halves, so that the work does not grow with the square of the size.
 */
import { invariant } from "./invariant.ts";

const WORD_SIZE = 32;
const scratch = new Uint8Array(WORD_SIZE);
const scratchView = new DataView(scratch.buffer);

/** The unsigned integer in `size` bytes at `offset`; bytes past the end are an error. */
export function readBigEndian(bytes: Uint8Array, offset: number, size: number): bigint {
  invariant(offset + size <= bytes.length, "the integer is in the bytes");
  if (size > WORD_SIZE) return readLong(bytes, offset, size);
  if (size <= 6) return BigInt(readSmall(bytes, offset, size));
  scratch.fill(0);
  for (let index = 0, to = WORD_SIZE - size; index < size; index++, to++) {
    scratch[to] = bytes[offset + index] ?? 0;
  }
  const low = scratchView.getBigUint64(24);
  if (size <= 8) return low;
  const lowHalf = (scratchView.getBigUint64(16) << 64n) | low;
  if (size <= 16) return lowHalf;
  if (size <= 20) return (BigInt(scratchView.getUint32(12)) << 128n) | lowHalf;
  const highHalf = (scratchView.getBigUint64(0) << 64n) | scratchView.getBigUint64(8);
  return (highHalf << 128n) | lowHalf;
}

/** Writes the lowest `size` bytes of the value at `offset`. */
export function writeBigEndian(value: bigint, out: Uint8Array, offset: number, size: number): void {
  invariant(offset + size <= out.length, "the integer fits in the bytes");
  if (size > WORD_SIZE) {
    writeLong(value, out, offset, size);
    return;
  }
  scratchView.setBigUint64(24, value);
  if (size > 8) {
    scratchView.setBigUint64(16, value >> 64n);
    if (size > 16) {
      scratchView.setBigUint64(8, value >> 128n);
      if (size > 24) scratchView.setBigUint64(0, value >> 192n);
    }
  }
  for (let index = 0, from = WORD_SIZE - size; index < size; index++, from++) {
    out[offset + index] = scratch[from] ?? 0;
  }
}

/** How many bytes the unsigned integer needs; 0 for 0. */
export function bigEndianSize(value: bigint): number {
  if (value === 0n) return 0;
  if (value <= 0xffn) return 1;
  if (value <= 0xffff_ffff_ffff_ffffn) return numberSize(value);
  return Math.ceil(value.toString(16).length / 2);
}

function numberSize(value: bigint): number {
  scratchView.setBigUint64(24, value);
  const high = scratchView.getUint32(24);
  if (high !== 0) return 8 - (Math.clz32(high) >> 3);
  return 4 - (Math.clz32(scratchView.getUint32(28)) >> 3);
}

function readSmall(bytes: Uint8Array, offset: number, size: number): number {
  let value = 0;
  for (let index = 0; index < size; index++) value = value * 256 + (bytes[offset + index] ?? 0);
  return value;
}

function readLong(bytes: Uint8Array, offset: number, size: number): bigint {
  const low = lowHalfSize(size);
  const high = readBigEndian(bytes, offset, size - low);
  return (high << BigInt(8 * low)) | readBigEndian(bytes, offset + size - low, low);
}

function writeLong(value: bigint, out: Uint8Array, offset: number, size: number): void {
  const low = lowHalfSize(size);
  writeBigEndian(value >> BigInt(8 * low), out, offset, size - low);
  writeBigEndian(BigInt.asUintN(8 * low, value), out, offset + size - low, low);
}

/** Whole words, as near to half of more than a word as they come. */
function lowHalfSize(size: number): number {
  return Math.max(WORD_SIZE, WORD_SIZE * Math.floor(size / 2 / WORD_SIZE));
}

/** 256-bit words between bytes and bigints, the two forms in which the EVM holds them. */
import { type SlowWork, WIDE_LOAD_GAS } from "./slow-work.ts";

export const WORD_MASK = (1n << 256n) - 1n;
export const WORD_LIMIT = 1n << 256n;
/** The sign bit: words from here on are negative as two's complement. */
export const SIGN_BIT = 1n << 255n;
export const ADDRESS_MASK = (1n << 160n) - 1n;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

const scratch = new DataView(new ArrayBuffer(8));

/** Words that were read of late, each at a place that follows from its bytes: 2^(32 - shift). */
const RECENT_SHIFT = 22;
const RECENT_COUNT = 2 ** (32 - RECENT_SHIFT);
const recentBytes = new Int32Array(8 * RECENT_COUNT);
const recentWords: bigint[] = Array.from({ length: RECENT_COUNT }, () => 0n);

/** The bigints 0 to 255: bytes become words without an allocation. */
export const BYTE_WORDS: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => BigInt(byte));

/** The 32 bytes at the offset, big-endian. Leading zeros are looked for first: they save most. */
export function readWord(view: DataView, offset: number): bigint {
  return isWide(view, offset) ? readWideWord(view, offset) : readNarrowWord(view, offset);
}

/** The same for a program that loads them. */
export function readCountedWord(view: DataView, offset: number, work: SlowWork): bigint {
  if (!isWide(view, offset)) return readNarrowWord(view, offset);
  work.slowGas += WIDE_LOAD_GAS;
  return readWideWord(view, offset);
}

function isWide(view: DataView, offset: number): boolean {
  const high = view.getInt32(offset) | view.getInt32(offset + 4);
  return (high | view.getInt32(offset + 8) | view.getInt32(offset + 12)) !== 0;
}

function readNarrowWord(view: DataView, offset: number): bigint {
  if ((view.getInt32(offset + 16) | view.getInt32(offset + 20)) !== 0) {
    return (view.getBigUint64(offset + 16) << 64n) | view.getBigUint64(offset + 24);
  }
  if (view.getInt32(offset + 24) !== 0) return view.getBigUint64(offset + 24);
  return BigInt(view.getUint32(offset + 28));
}

/**
 * Putting a bigint together takes ten allocations. Programs read the same words again and again,
 * and to compare the 32 bytes with those of a word that was put together before takes a tenth.
 */
function readWideWord(view: DataView, offset: number): bigint {
  const a = view.getInt32(offset);
  const b = view.getInt32(offset + 4);
  const c = view.getInt32(offset + 8);
  const d = view.getInt32(offset + 12);
  const e = view.getInt32(offset + 16);
  const f = view.getInt32(offset + 20);
  const g = view.getInt32(offset + 24);
  const h = view.getInt32(offset + 28);
  const mixed = Math.imul(a ^ (c << 7) ^ (e << 13) ^ g, 0x9e3779b1);
  const index = (mixed ^ Math.imul(b ^ (d << 5) ^ (f << 11) ^ h, 0x85ebca6b)) >>> RECENT_SHIFT;
  const at = 8 * index;
  if (
    recentBytes[at] === a &&
    recentBytes[at + 1] === b &&
    recentBytes[at + 2] === c &&
    recentBytes[at + 3] === d &&
    recentBytes[at + 4] === e &&
    recentBytes[at + 5] === f &&
    recentBytes[at + 6] === g &&
    recentBytes[at + 7] === h
  ) {
    return recentWords[index] ?? 0n;
  }
  const high = (view.getBigUint64(offset) << 64n) | view.getBigUint64(offset + 8);
  const low = (view.getBigUint64(offset + 16) << 64n) | view.getBigUint64(offset + 24);
  const word = (high << 128n) | low;
  recentBytes[at] = a;
  recentBytes[at + 1] = b;
  recentBytes[at + 2] = c;
  recentBytes[at + 3] = d;
  recentBytes[at + 4] = e;
  recentBytes[at + 5] = f;
  recentBytes[at + 6] = g;
  recentBytes[at + 7] = h;
  recentWords[index] = word;
  return word;
}

export function writeWord(view: DataView, offset: number, word: bigint): void {
  if (word <= UINT64_MAX) {
    view.setBigUint64(offset, 0n);
    view.setBigUint64(offset + 8, 0n);
    view.setBigUint64(offset + 16, 0n);
    view.setBigUint64(offset + 24, word);
    return;
  }
  // setBigUint64 keeps the low 64 bits of what it is given, so nothing needs a mask.
  const high = word >> 128n;
  view.setBigUint64(offset, high >> 64n);
  view.setBigUint64(offset + 8, high);
  view.setBigUint64(offset + 16, word >> 64n);
  view.setBigUint64(offset + 24, word);
}

/** A count as a word. The engine is much faster with numbers it knows to have 32 bits. */
export function countToWord(count: number): bigint {
  return count <= 0xffff_ffff ? BigInt(count >>> 0) : BigInt(count);
}

/** The low byte, without a bigint on the way. */
export function lowByte(word: bigint): number {
  scratch.setBigUint64(0, word);
  return scratch.getUint8(7);
}

/** Of 32 bytes or fewer, read as one big-endian number. */
export function bytesToWord(bytes: Uint8Array): bigint {
  if (bytes.length === 32) {
    return readWord(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
  }
  let word = 0n;
  for (const byte of bytes) word = (word << 8n) | (BYTE_WORDS[byte] ?? 0n);
  return word;
}

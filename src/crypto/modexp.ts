import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { readLimbs, writeLimbs } from "./modular/limb-bytes.ts";
import {
  createMontgomeryKernel,
  LIMB_BITS,
  LIMB_COUNT_MAX,
  type MontgomeryKernel,
} from "./modular/montgomery-kernel.ts";

/** base ** exponent % modulus in as many bytes as the modulus has; zero if the modulus is zero. */
export function modexp(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array {
  const result = new Uint8Array(modulus.length);
  const modulusValue = readBigEndian(modulus, 0, modulus.length);
  if (modulusValue <= 1n) return result;
  const digits = withoutLeadingZeros(exponent);
  const power = powerModulo(readBigEndian(base, 0, base.length), digits, modulusValue);
  writeBigEndian(power, result, 0, modulus.length);
  return result;
}

function powerModulo(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  if (exponent.length === 0) return 1n;
  if ((modulus & 1n) === 1n) return powerModuloOdd(base, exponent, modulus);
  // modulus = 2^shift * odd: both powers apart, then the one number that agrees with both.
  const shift = trailingZeros(modulus);
  const odd = modulus >> BigInt(shift);
  const low = powerModuloPowerOfTwo(base, exponent, shift);
  if (odd === 1n) return low;
  const high = powerModuloOdd(base, exponent, odd);
  const correction = BigInt.asUintN(shift, (low - high) * invertModuloPowerOfTwo(odd, shift));
  return high + odd * correction;
}

/** Limb counts in use are few; a kernel is a few hundred bytes to a few hundred KiB. */
const kernels = new Map<number, MontgomeryKernel>();
const KERNELS_MAX = 160;

function powerModuloOdd(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  const limbCount = Math.ceil((bitLength(modulus) + 2) / LIMB_BITS);
  if (limbCount > LIMB_COUNT_MAX) return powerByBigInt(base, exponent, (n) => n % modulus);
  let kernel = kernels.get(limbCount);
  if (kernel === undefined) {
    if (kernels.size >= KERNELS_MAX) kernels.clear();
    kernel = createMontgomeryKernel(limbCount);
    kernels.set(limbCount, kernel);
  }
  const { limbs, bytes } = kernel;
  const load = (value: bigint): Float64Array => {
    writeBigEndian(value, bytes, 0, bytes.length);
    readLimbs(limbs, bytes, 0, bytes.length);
    return limbs.limbs;
  };
  const low = Number(BigInt.asUintN(LIMB_BITS, modulus));
  kernel.setModulus(load(modulus), negatedInverse(low));
  kernel.setSlot(1, load((base << BigInt(LIMB_BITS * limbCount)) % modulus));
  runWindows(kernel, exponent);
  kernel.setOne(1);
  kernel.multiply(RESULT_SLOT, RESULT_SLOT, 1);
  kernel.readSlot(RESULT_SLOT, limbs.limbs);
  writeLimbs(limbs, bytes, 0, bytes.length);
  const value = readBigEndian(bytes, 0, bytes.length);
  return value < modulus ? value : value - modulus;
}

/** -1/value modulo 2^28 for an odd value: each step doubles the bits that are right. */
function negatedInverse(value: number): number {
  let inverse = value;
  for (let step = 0; step < 4; step++) {
    inverse = Math.imul(inverse, 2 - Math.imul(value, inverse));
  }
  return -inverse & (2 ** LIMB_BITS - 1);
}

const RESULT_SLOT = 65;

/** The power of slot 1 into the result slot; slots 2 and on are the table of its powers. */
function runWindows(kernel: MontgomeryKernel, exponent: Uint8Array): void {
  const bitCount = 8 * exponent.length - (Math.clz32(exponent[0] ?? 0) - 24);
  const windowBits = bitCount <= 32 ? 1 : bitCount <= 768 ? 4 : 6;
  for (let entry = 2; entry < 1 << windowBits; entry++) kernel.multiply(entry, entry - 1, 1);
  let position = bitCount % windowBits === 0 ? windowBits : bitCount % windowBits;
  const start = 8 * exponent.length - bitCount;
  const first = bitsAt(exponent, start, position);
  kernel.copySlot(RESULT_SLOT, first);
  let pending = 0;
  for (; position < bitCount; position += windowBits) {
    pending += windowBits;
    const digit = bitsAt(exponent, start + position, windowBits);
    if (digit === 0) continue;
    kernel.squareTimes(RESULT_SLOT, pending);
    kernel.multiply(RESULT_SLOT, RESULT_SLOT, digit);
    pending = 0;
  }
  while (pending > 0) {
    // Short calls let V8's better code take over when it is ready.
    const count = Math.min(pending, SQUARINGS_PER_CALL);
    kernel.squareTimes(RESULT_SLOT, count);
    pending -= count;
  }
}

const SQUARINGS_PER_CALL = 1024;

/** The first window of a number without leading zeros is never zero. */
function bitsAt(bytes: Uint8Array, start: number, count: number): number {
  const index = start >> 3;
  const pair = ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  return (pair >> (16 - (start & 7) - count)) & ((1 << count) - 1);
}

function powerModuloPowerOfTwo(base: bigint, exponent: Uint8Array, shift: number): bigint {
  const reduced = BigInt.asUintN(shift, base);
  if (reduced === 0n) return 0n;
  if ((reduced & 1n) === 0n) {
    // An even base is zero once raised to the shift; smaller exponents are short.
    const isLong =
      exponent.length > 4 || readBigEndian(exponent, 0, exponent.length) >= BigInt(shift);
    if (isLong) return 0n;
  }
  // The odd numbers modulo 2^shift have order 2^shift / 4 at most.
  const size = Math.ceil(shift / 8);
  const short = exponent.length > size ? exponent.subarray(exponent.length - size) : exponent;
  const digits = withoutLeadingZeros(short);
  if (digits.length === 0) return 1n;
  return powerByBigInt(reduced, digits, (n) => BigInt.asUintN(shift, n));
}

/** Four bits at a time; the exponent has no leading zero byte. */
function powerByBigInt(
  base: bigint,
  exponent: Uint8Array,
  reduce: (value: bigint) => bigint,
): bigint {
  const reduced = reduce(base);
  const powers: bigint[] = [1n];
  for (let index = 1; index < 16; index++) powers.push(reduce((powers[index - 1] ?? 0n) * reduced));
  let power = 1n;
  for (const byte of exponent) {
    for (const digit of [byte >> 4, byte & 15]) {
      if (power !== 1n) for (let bit = 0; bit < 4; bit++) power = reduce(power * power);
      if (digit !== 0) power = reduce(power * (powers[digit] ?? 0n));
    }
  }
  return power;
}

/** 1/value modulo 2^bits for an odd value: each step doubles the bits that are right. */
function invertModuloPowerOfTwo(value: bigint, bits: number): bigint {
  let inverse = 1n;
  for (let right = 1; right < bits; right *= 2) {
    const width = Math.min(bits, 2 * right);
    inverse = BigInt.asUintN(width, inverse * (2n - BigInt.asUintN(width, value) * inverse));
  }
  return inverse;
}

function trailingZeros(value: bigint): number {
  let count = 0;
  while (BigInt.asUintN(32, value >> BigInt(count)) === 0n) count += 32;
  const word = Number(BigInt.asUintN(32, value >> BigInt(count)));
  return count + 31 - Math.clz32(word & -word);
}

function bitLength(value: bigint): number {
  const text = value.toString(16);
  return 4 * text.length - (Math.clz32(Number.parseInt(text[0] ?? "0", 16)) - 28);
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start++;
  return bytes.subarray(start);
}

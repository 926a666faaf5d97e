/** Arithmetic on 256-bit words that is too long for the interpreter's loop. */
import { SIGN_BIT, WORD_LIMIT, WORD_MASK } from "./word.ts";

type SignExtension = { readonly signBit: bigint; readonly low: bigint; readonly high: bigint };

/** For a number of `index + 1` bytes: its sign bit, the bits below it, and the rest. */
const SIGN_EXTENSIONS: readonly SignExtension[] = Array.from({ length: 31 }, (_, index) => {
  const signBit = 1n << BigInt(8 * index + 7);
  return { signBit, low: signBit - 1n, high: WORD_MASK ^ (signBit - 1n) };
});
const NO_EXTENSION: SignExtension = { signBit: 0n, low: WORD_MASK, high: 0n };
const SHORT_EXPONENT_MAX = 0xffffn;

/**
 * Division by zero is zero; -2^255 / -1 overflows back to -2^255. Both work on magnitudes: negative
 * bigints are slow to mask.
 */
export function signedDivide(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  const isNegative = a >= SIGN_BIT !== b >= SIGN_BIT;
  const quotient = magnitude(a) / magnitude(b);
  return isNegative && quotient !== 0n ? WORD_LIMIT - quotient : quotient;
}

/** The result takes the sign of the dividend; modulo zero is zero. */
export function signedModulo(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  if (a < SIGN_BIT) return a % magnitude(b);
  const rest = (WORD_LIMIT - a) % magnitude(b);
  return rest === 0n ? 0n : WORD_LIMIT - rest;
}

/** The sum and the product are not cut to 256 bits before the modulo. */
export function addModulo(a: bigint, b: bigint, modulus: bigint): bigint {
  return modulus === 0n ? 0n : (a + b) % modulus;
}

export function multiplyModulo(a: bigint, b: bigint, modulus: bigint): bigint {
  return modulus === 0n ? 0n : (a * b) % modulus;
}

/** Extends the sign of the number in the low `index + 1` bytes. */
export function signExtend(index: bigint, word: bigint): bigint {
  if (index > 30n) return word;
  const extension = SIGN_EXTENSIONS[Number(index)] ?? NO_EXTENSION;
  return (word & extension.signBit) === 0n ? word & extension.low : word | extension.high;
}

export function shiftRightArithmetic(shift: bigint, word: bigint): bigint {
  if (word < SIGN_BIT) return shift > 255n ? 0n : word >> shift;
  return shift > 255n ? WORD_MASK : ((word - WORD_LIMIT) >> shift) & WORD_MASK;
}

export function isLessSigned(a: bigint, b: bigint): boolean {
  const isNegative = a >= SIGN_BIT;
  return isNegative === b >= SIGN_BIT ? a < b : isNegative;
}

/** a to the power of b modulo 2^256, four bits of the exponent at a time. */
export function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n;
  if (base <= 1n) return base;
  if (base === 2n) return exponent > 255n ? 0n : 1n << exponent;
  if (exponent <= SHORT_EXPONENT_MAX) return shortPower(base, Number(exponent));
  const digits = exponent.toString(16);
  const powers: bigint[] = [1n, base];
  for (let index = 2; index < 16; index++) {
    powers.push(((powers[index - 1] ?? 0n) * base) & WORD_MASK);
  }
  let result = 1n;
  for (let index = 0; index < digits.length; index++) {
    if (index > 0) result = raiseTo16(result);
    const digit = Number.parseInt(digits.charAt(index), 16);
    if (digit !== 0) result = (result * (powers[digit] ?? 0n)) & WORD_MASK;
    // An even base has run out of bits after at most 64 digits: nothing left to multiply.
    if (result === 0n) return 0n;
  }
  return result;
}

/** The number of bytes without leading zeros: what EXP charges for. */
export function byteLength(word: bigint): number {
  let size = 0;
  let rest = word;
  while (rest > 0xffff_ffffn) {
    rest >>= 32n;
    size += 4;
  }
  const low = Number(rest);
  return size + Math.ceil((32 - Math.clz32(low)) / 8);
}

/** Bit by bit: a table of powers would cost more than it saves. */
function shortPower(base: bigint, exponent: number): bigint {
  let result = base;
  for (let bit = 30 - Math.clz32(exponent); bit >= 0; bit--) {
    result = (result * result) & WORD_MASK;
    if (((exponent >>> bit) & 1) === 1) result = (result * base) & WORD_MASK;
  }
  return result;
}

function raiseTo16(word: bigint): bigint {
  const squared = (word * word) & WORD_MASK;
  const fourth = (squared * squared) & WORD_MASK;
  const eighth = (fourth * fourth) & WORD_MASK;
  return (eighth * eighth) & WORD_MASK;
}

function magnitude(word: bigint): bigint {
  return word >= SIGN_BIT ? WORD_LIMIT - word : word;
}

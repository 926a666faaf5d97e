/** Arithmetic on 256-bit words that is too long for the interpreter's loop. */
import { NEGATIVE_DIVISION_GAS, type SlowWork, WIDE_MULMOD_GAS } from "../slow-work.ts";
import { SIGN_BIT, WORD_LIMIT, WORD_MASK } from "../word.ts";

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
export function signedDivide(a: bigint, b: bigint, work: SlowWork): bigint {
  if (b === 0n) return 0n;
  const isNegative = a >= SIGN_BIT;
  const isDivisorNegative = b >= SIGN_BIT;
  if (!isNegative && !isDivisorNegative) return a / b;
  work.slowGas += NEGATIVE_DIVISION_GAS;
  const quotient = (isNegative ? WORD_LIMIT - a : a) / (isDivisorNegative ? WORD_LIMIT - b : b);
  return isNegative === isDivisorNegative || quotient === 0n ? quotient : WORD_LIMIT - quotient;
}

/** The result takes the sign of the dividend; modulo zero is zero. */
export function signedModulo(a: bigint, b: bigint, work: SlowWork): bigint {
  if (b === 0n) return 0n;
  const isNegative = a >= SIGN_BIT;
  const isDivisorNegative = b >= SIGN_BIT;
  if (!isNegative && !isDivisorNegative) return a % b;
  work.slowGas += NEGATIVE_DIVISION_GAS;
  const rest = (isNegative ? WORD_LIMIT - a : a) % (isDivisorNegative ? WORD_LIMIT - b : b);
  return isNegative && rest !== 0n ? WORD_LIMIT - rest : rest;
}

/** The sum and the product are not cut to 256 bits before the modulo. */
export function addModulo(a: bigint, b: bigint, modulus: bigint): bigint {
  return modulus === 0n ? 0n : (a + b) % modulus;
}

export function multiplyModulo(a: bigint, b: bigint, modulus: bigint, work: SlowWork): bigint {
  if (modulus === 0n) return 0n;
  const product = a * b;
  if (product > WORD_MASK) work.slowGas += WIDE_MULMOD_GAS;
  return product % modulus;
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
  const odd = oddPowers(base);
  let result = 1n;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number.parseInt(digits.charAt(index), 16);
    // A digit is an odd number times 2^zeros: the last squarings follow the multiplication.
    const zeros = digit === 0 ? 0 : 31 - Math.clz32(digit & -digit);
    if (index > 0) result = square(result, 4 - zeros);
    if (digit !== 0) {
      const factor = odd[digit >>> (zeros + 1)] ?? 0n;
      result = square(index === 0 ? factor : (result * factor) & WORD_MASK, zeros);
    }
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

/** Two bits at a time: a larger table would cost more than it saves. */
function shortPower(base: bigint, exponent: number): bigint {
  const squared = (base * base) & WORD_MASK;
  const cubed = (squared * base) & WORD_MASK;
  const powers = [1n, base, squared, cubed];
  let shift = (31 - Math.clz32(exponent)) & ~1;
  let result = powers[exponent >>> shift] ?? 0n;
  while (shift > 0) {
    shift -= 2;
    result = square(result, 2);
    const digit = (exponent >>> shift) & 3;
    if (digit !== 0) result = (result * (powers[digit] ?? 0n)) & WORD_MASK;
  }
  return result;
}

/** base, base^3, base^5, ... base^15. */
function oddPowers(base: bigint): readonly bigint[] {
  const squared = (base * base) & WORD_MASK;
  const powers = [base];
  for (let index = 1; index < 8; index++) {
    powers.push(((powers[index - 1] ?? 0n) * squared) & WORD_MASK);
  }
  return powers;
}

/** Squares so many times. */
function square(word: bigint, times: number): bigint {
  let result = word;
  for (let count = 0; count < times; count++) result = (result * result) & WORD_MASK;
  return result;
}

import { bytesToBigInt, writeBigInt } from "./big-endian.ts";

/** base ** exponent % modulus in as many bytes as the modulus has; zero if the modulus is zero. */
export function modexp(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array {
  const result = new Uint8Array(modulus.length);
  const modulusValue = bytesToBigInt(modulus);
  if (modulusValue <= 1n) return result;
  const power = powerModulo(bytesToBigInt(base) % modulusValue, exponent, modulusValue);
  writeBigInt(power, result, 0, modulus.length);
  return result;
}

/** Bits of the exponent taken per multiplication. */
const WINDOW_BITS = 4;

function powerModulo(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  const powers: bigint[] = [1n];
  for (let index = 1; index < 1 << WINDOW_BITS; index++) {
    powers.push(((powers[index - 1] ?? 0n) * base) % modulus);
  }
  let power = 1n;
  for (const byte of exponent) {
    for (const digit of [byte >> 4, byte & 15]) {
      if (power !== 1n) {
        for (let bit = 0; bit < WINDOW_BITS; bit++) power = (power * power) % modulus;
      }
      if (digit !== 0) power = (power * (powers[digit] ?? 0n)) % modulus;
    }
  }
  return power;
}

import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";

/**
 * base ** exponent % modulus in as many bytes as the modulus has; zero if the modulus is zero. On
 * bigints of the engine: how long that takes per gas is bounded per block (docs/adr/0010).
 */
export function modexp(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array {
  const result = new Uint8Array(modulus.length);
  const modulusValue = readBigEndian(modulus, 0, modulus.length);
  if (modulusValue <= 1n) return result;
  const baseValue = readBigEndian(base, 0, base.length) % modulusValue;
  const power = powerModulo(baseValue, withoutLeadingZeros(exponent), modulusValue);
  writeBigEndian(power, result, 0, modulus.length);
  return result;
}

const WINDOW_SIZE = 16;

/** Four bits of the exponent at a time, most significant first. */
function powerModulo(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  if (base === 0n) return exponent.length === 0 ? 1n : 0n;
  const powers: bigint[] = [1n];
  const tableSize = exponent.length === 1 ? (exponent[0] ?? 0) + 1 : WINDOW_SIZE;
  for (let index = 1; index < Math.min(tableSize, WINDOW_SIZE); index++) {
    powers.push(((powers[index - 1] ?? 1n) * base) % modulus);
  }
  let power = 1n;
  for (const byte of exponent) {
    for (const digit of [byte >> 4, byte & 15]) {
      if (power !== 1n) {
        for (let bit = 0; bit < 4; bit++) power = (power * power) % modulus;
      }
      if (digit !== 0) power = (power * (powers[digit] ?? 1n)) % modulus;
    }
  }
  return power;
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start++;
  return bytes.subarray(start);
}

import { modexp } from "../../crypto/modexp.ts";
import type { Precompile } from "../precompile.ts";
import { inputWindow } from "./input-window.ts";

/** 0x05: base ** exponent % modulus, priced by EIP-2565. */
export const modularExponentiation: Precompile = {
  name: "modexp",

  gasCost(input) {
    const { iterations, words } = modexpIterations(input);
    const work = words * words * iterations;
    // Sizes are 256-bit numbers: beyond what a double holds exactly, no gas limit pays for it.
    if (!(work <= Number.MAX_SAFE_INTEGER)) return Infinity;
    return Math.max(GAS_MIN, Math.floor(work / 3));
  },

  run(input) {
    const { baseSize, exponentSize, modulusSize } = declaredSizes(input);
    // Without base and modulus any exponent size is cheap: nothing may be allocated for it.
    if (modulusSize === 0) return new Uint8Array(0);
    const exponentOffset = HEAD_SIZE + baseSize;
    const modulusOffset = exponentOffset + exponentSize;
    return modexp(
      inputWindow(input, HEAD_SIZE, baseSize),
      inputWindow(input, exponentOffset, exponentSize),
      inputWindow(input, modulusOffset, modulusSize),
    );
  },
};

/** How many times a number is squared, and its length in words of eight bytes (EIP-2565). */
export function modexpIterations(input: Uint8Array): {
  readonly iterations: number;
  readonly words: number;
} {
  const { baseSize, exponentSize, modulusSize } = declaredSizes(input);
  const words = Math.ceil(Math.max(baseSize, modulusSize) / 8);
  // Nothing is raised: an exponent of any size is free.
  if (words === 0) return { iterations: 0, words };
  const headSize = Math.min(exponentSize, EXPONENT_HEAD_SIZE);
  const headBits = bitLength(exponentHead(input, baseSize, headSize));
  const tailBits = 8 * Math.max(0, exponentSize - EXPONENT_HEAD_SIZE);
  return { iterations: Math.max(1, tailBits + Math.max(0, headBits - 1)), words };
}

const GAS_MIN = 200;
const HEAD_SIZE = 96;
/** Only the first word of the exponent is looked at for its bit length. */
const EXPONENT_HEAD_SIZE = 32;

type DeclaredSizes = {
  readonly baseSize: number;
  readonly exponentSize: number;
  readonly modulusSize: number;
};

function declaredSizes(input: Uint8Array): DeclaredSizes {
  return {
    baseSize: declaredSize(input, 0),
    exponentSize: declaredSize(input, 32),
    modulusSize: declaredSize(input, 64),
  };
}

/** Rounded to a double where it exceeds 2^53; such sizes are only ever priced, never read. */
function declaredSize(input: Uint8Array, offset: number): number {
  let size = 0;
  for (let index = 0; index < 32; index++) size = size * 256 + (input[offset + index] ?? 0);
  return size;
}

function exponentHead(input: Uint8Array, baseSize: number, size: number): Uint8Array {
  const offset = HEAD_SIZE + baseSize;
  if (offset >= input.length) return new Uint8Array(0);
  return inputWindow(input, offset, size);
}

function bitLength(bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte !== 0) return 8 * (bytes.length - index) - (Math.clz32(byte) - 24);
  }
  return 0;
}

import { invariant } from "./invariant.ts";

/** Lower-case hexadecimal text with the prefix `0x`. */
export type Hex = `0x${string}`;

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function bytesToHex(bytes: Uint8Array): Hex {
  let text: Hex = "0x";
  for (const byte of bytes) text += DIGITS[byte] ?? "";
  return text;
}

/** As Ethereum writes quantities: no digit more than it takes. */
export function numberToHex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** All 32 bytes of a word. */
export function wordToHex(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** For text that our own code wrote. Text from outside goes through `parseHex`. */
export function hexToBytes(text: string): Uint8Array {
  const bytes = parseHex(text);
  invariant(bytes !== undefined, `not hexadecimal: ${text.slice(0, 80)}`);
  return bytes;
}

/** The bytes of `0x`-prefixed text of either case, or undefined if it is anything else. */
export function parseHex(text: string): Uint8Array | undefined {
  if (!text.startsWith("0x") || text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2 - 1);
  for (let index = 0; index < bytes.length; index++) {
    const high = digitValue(text.charCodeAt(2 + 2 * index));
    const low = digitValue(text.charCodeAt(3 + 2 * index));
    if (high < 0 || low < 0) return undefined;
    bytes[index] = high * 16 + low;
  }
  return bytes;
}

function digitValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  if (code >= 65 && code <= 70) return code - 55;
  return -1;
}

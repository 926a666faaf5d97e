/** The text in what a contract reverted with, if it follows the convention of Solidity. */
import { readBigEndian } from "../base/big-endian.ts";
import { decodeUtf8 } from "../base/utf8.ts";

const ERROR_SELECTOR = 0x08c379a0n; // Error(string)
const PANIC_SELECTOR = 0x4e487b71n; // Panic(uint256)
const SELECTOR_SIZE = 4;
const WORD_SIZE = 32;
const TEXT_SIZE_MAX = 1_024;

const PANIC_TEXTS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, "generic panic"],
  [0x01n, "assert(false)"],
  [0x11n, "arithmetic underflow or overflow"],
  [0x12n, "division or modulo by zero"],
  [0x21n, "enum overflow"],
  [0x22n, "invalid encoded storage byte array accessed"],
  [0x31n, "out-of-bounds array access; popping on an empty array"],
  [0x32n, "out-of-bounds access of an array or bytesN"],
  [0x41n, "out of memory"],
  [0x51n, "uninitialized function"],
]);

export function revertReason(output: Uint8Array): string | undefined {
  if (output.length < SELECTOR_SIZE + WORD_SIZE) return undefined;
  const selector = readBigEndian(output, 0, SELECTOR_SIZE);
  const body = output.subarray(SELECTOR_SIZE);
  if (selector === PANIC_SELECTOR) return panicText(readBigEndian(body, 0, WORD_SIZE));
  return selector === ERROR_SELECTOR ? errorText(body) : undefined;
}

function panicText(code: bigint): string {
  return PANIC_TEXTS.get(code) ?? `unknown panic code: 0x${code.toString(16)}`;
}

/** Offset, length, bytes: a contract may write anything there. */
function errorText(body: Uint8Array): string | undefined {
  const start = readBigEndian(body, 0, WORD_SIZE);
  if (start + BigInt(WORD_SIZE) > BigInt(body.length)) return undefined;
  const textStart = Number(start) + WORD_SIZE;
  const length = readBigEndian(body, Number(start), WORD_SIZE);
  if (length > BigInt(TEXT_SIZE_MAX) || length > BigInt(body.length - textStart)) return undefined;
  return decodeUtf8(body.subarray(textStart, textStart + Number(length)));
}

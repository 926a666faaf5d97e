/** Numbers as JSON-RPC writes them. */
import type { Hex } from "../base/hex.ts";
import { rawInteger } from "./json-text.ts";

export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** All 32 bytes. */
export function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** A JSON integer, exact however large: a price of gas may be above 2^53. */
export function integer(value: bigint): unknown {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : rawInteger(value);
}

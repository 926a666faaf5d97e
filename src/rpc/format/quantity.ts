/** Numbers as JSON-RPC writes them. */
import { rawInteger } from "../json-text.ts";

export { numberToHex as quantity, wordToHex as word } from "../../base/hex.ts";

/** A JSON integer, exact however large: a price of gas may be above 2^53. */
export function integer(value: bigint): unknown {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : rawInteger(value);
}

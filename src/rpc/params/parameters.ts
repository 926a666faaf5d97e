/**
 * Parameters from outside. Each function names the place at fault (`0`, or `0.from` inside an
 * object) and says what is expected there.
 */
import { parseHex, type Hex } from "../../base/hex.ts";
import { readBigEndian } from "../../base/big-endian.ts";
import { parseAddress as readAddress } from "../../chain/address.ts";
import type { Dialect } from "../method.ts";
import { INVALID_PARAMS, RpcError } from "../rpc-error.ts";

/** The index of a parameter, or the path into it. */
export type Place = number | string;

export type JsonObject = Readonly<Record<string, unknown>>;

const HASH_SIZE = 32;
const QUANTITY_DIGITS_MAX = 64;
const SHOWN_LENGTH_MAX = 80;

export function invalidParameter(place: Place, expected: string, value: unknown): RpcError {
  const message = `invalid parameter ${place}: expected ${expected}, got ${describe(value)}`;
  return new RpcError(INVALID_PARAMS, message);
}

export function parseAddressParameter(value: unknown, place: Place): bigint {
  const address = typeof value === "string" ? readAddress(value) : undefined;
  if (address === undefined) throw invalidParameter(place, "an address: 0x and 40 digits", value);
  return address;
}

export function parseHash(value: unknown, place: Place): Uint8Array {
  const bytes = typeof value === "string" ? parseHex(value) : undefined;
  if (bytes?.length !== HASH_SIZE) {
    throw invalidParameter(place, "a 32-byte hash: 0x and 64 digits", value);
  }
  return bytes;
}

/** A 32-byte word, such as a topic or a slot of an access list. */
export function parseWord(value: unknown, place: Place): bigint {
  return readBigEndian(parseHash(value, place), 0, HASH_SIZE);
}

export function parseData(value: unknown, place: Place): Uint8Array {
  const bytes = typeof value === "string" ? parseHex(value) : undefined;
  if (bytes === undefined) {
    throw invalidParameter(place, "data: 0x and two digits for each byte", value);
  }
  return bytes;
}

/** The legacy dialect takes leading zeros, because its own records have them. */
export function parseQuantity(
  value: unknown,
  place: Place,
  dialect: Dialect,
  bitsMax = 256,
): bigint {
  const text = typeof value === "string" ? value : "";
  if (!/^0x[0-9a-fA-F]+$/.test(text) || text.length > 2 + QUANTITY_DIGITS_MAX) {
    throw invalidParameter(place, "a quantity: 0x and hexadecimal digits", value);
  }
  if (dialect === "standard" && text.length > 3 && text.startsWith("0x0")) {
    throw invalidParameter(place, "a quantity without leading zeros", value);
  }
  const number = BigInt(text);
  if (number >> BigInt(bitsMax) !== 0n) {
    throw invalidParameter(place, `a quantity of at most ${bitsMax} bits`, value);
  }
  return number;
}

export function parseBoolean(value: unknown, place: Place): boolean {
  if (typeof value !== "boolean") throw invalidParameter(place, "true or false", value);
  return value;
}

/** The key of a storage slot: callers shorten it, even to an odd number of digits. */
export function parseSlot(value: unknown, place: Place): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]*$/.test(value)) {
    throw invalidParameter(place, "a storage key: 0x and hexadecimal digits", value);
  }
  if (value.length > 2 + 2 * HASH_SIZE) {
    throw invalidParameter(place, "a storage key of at most 32 bytes", value);
  }
  return value === "0x" ? 0n : BigInt(value);
}

/** The name of a filter or a subscription, as it was given out. */
export function parseId(value: unknown, place: Place): Hex {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw invalidParameter(place, "an id that was given out: 0x and hexadecimal digits", value);
  }
  return `0x${BigInt(value).toString(16)}`;
}

/** For parameters that have no default. */
export function requireParameter(value: unknown, place: Place): unknown {
  if (isAbsent(value)) throw invalidParameter(place, "a value", value);
  return value;
}

export function parseObject(value: unknown, place: Place): JsonObject {
  if (!isObject(value)) throw invalidParameter(place, "an object", value);
  return value;
}

export function parseArray(value: unknown, place: Place, lengthMax: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidParameter(place, "an array", value);
  if (value.length > lengthMax) {
    const message = `invalid parameter ${place}: at most ${lengthMax} entries, got ${value.length}`;
    throw new RpcError(INVALID_PARAMS, message);
  }
  return value;
}

/** Callers leave out what they do not care about, or say null. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Rejects unknown fields: a mistyped name must not count as an absent one. The legacy dialect
 * ignores them, because wallets and libraries add some of their own.
 */
export function assertKnownFields(
  object: JsonObject,
  place: Place,
  known: ReadonlySet<string>,
  dialect: Dialect,
): void {
  if (dialect === "legacy") return;
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    const message = `invalid parameter ${place}: unknown field ${describe(name)}`;
    throw new RpcError(INVALID_PARAMS, `${message}; known are ${[...known].join(", ")}`);
  }
}

/** Never the whole of something large or deep. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isObject(value)) return "an object";
  const text = JSON.stringify(value);
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}...` : text;
}

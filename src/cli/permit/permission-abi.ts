/**
 * Calls of the permission contract and what comes back, in its ABI (contracts/permissions.json).
 */
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import { concatBytes } from "../../base/bytes.ts";
import { bytesToHex, type Hex, parseHex } from "../../base/hex.ts";
import { keccak256 } from "../../crypto/keccak256.ts";

export type Permission = { readonly from: bigint; readonly to: bigint; readonly rights: number };

/** One entry before and after a change. */
export type PermissionChange = {
  readonly from: bigint;
  readonly to: bigint;
  readonly previous: number;
  readonly current: number;
};

export type ChangeMethod = "grantPermissions" | "revokePermissions" | "updatePermissions";

/** What the contract refuses, by the name of its error. */
export type ContractRefusal = "NotAdmin" | "ActionNotGrantable" | "LastAdmin";

const WORD_SIZE = 32;
const SELECTOR_SIZE = 4;
const PERMISSION_WORDS = 3;
const REFUSALS: readonly (readonly [ContractRefusal, signature: string])[] = [
  ["NotAdmin", "NotAdmin(address)"],
  ["ActionNotGrantable", "ActionNotGrantable(address,address,uint8)"],
  ["LastAdmin", "LastAdmin()"],
];
const EVENT = "PermissionsUpdated(address,address,address,uint8,uint8)";

export function encodeChange(method: ChangeMethod, { from, to, rights }: Permission): Hex {
  return encodeCall(`${method}(address,address,uint8)`, from, to, BigInt(rights));
}

export function encodeList(offset: number, limit: number): Hex {
  return encodeCall("listPermissions(uint256,uint256)", BigInt(offset), BigInt(limit));
}

/** Undefined for what is no list of the contract. */
export function decodeList(output: Uint8Array): readonly Permission[] | undefined {
  // A pointer to the list, its length, then its elements, which have a fixed size.
  if (output.length < 2 * WORD_SIZE || output.length % WORD_SIZE !== 0) return undefined;
  const words = Array.from({ length: output.length / WORD_SIZE }, (_, index) =>
    readBigEndian(output, index * WORD_SIZE, WORD_SIZE),
  );
  const [pointer, count = 0n, ...elements] = words;
  if (pointer !== BigInt(WORD_SIZE)) return undefined;
  if (BigInt(elements.length) !== count * BigInt(PERMISSION_WORDS)) return undefined;
  return Array.from({ length: Number(count) }, (_, index) => {
    const [from = 0n, to = 0n, rights = 0n] = elements.slice(index * PERMISSION_WORDS);
    return { from, to, rights: Number(rights) };
  });
}

/** The change that a log records; undefined for logs of other kinds. */
export function decodeChange(
  topics: readonly bigint[],
  data: Uint8Array,
): PermissionChange | undefined {
  const [kind, from, to] = topics;
  if (from === undefined || to === undefined || data.length !== 2 * WORD_SIZE) return undefined;
  if (kind !== readBigEndian(hashOf(EVENT), 0, WORD_SIZE)) return undefined;
  const previous = Number(readBigEndian(data, 0, WORD_SIZE));
  const current = Number(readBigEndian(data, WORD_SIZE, WORD_SIZE));
  return { from, to, previous, current };
}

/** Why the contract reverted, or undefined if it did not say. */
export function decodeRefusal(output: string): ContractRefusal | undefined {
  const bytes = parseHex(output);
  if (bytes === undefined) return undefined;
  const selector = bytesToHex(bytes.subarray(0, SELECTOR_SIZE));
  return REFUSALS.find(([, signature]) => selectorOf(signature) === selector)?.[0];
}

function encodeCall(signature: string, ...values: readonly bigint[]): Hex {
  const words = new Uint8Array(values.length * WORD_SIZE);
  values.forEach((value, index) => writeBigEndian(value, words, index * WORD_SIZE, WORD_SIZE));
  return bytesToHex(concatBytes(hashOf(signature).subarray(0, SELECTOR_SIZE), words));
}

function selectorOf(signature: string): Hex {
  return bytesToHex(hashOf(signature).subarray(0, SELECTOR_SIZE));
}

function hashOf(signature: string): Uint8Array {
  return keccak256(new TextEncoder().encode(signature));
}

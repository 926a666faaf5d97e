/** Accounts as they are encoded in the store and in the leaves of the account trie. */
import { bigEndianSize, readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { EMPTY_TRIE_ROOT } from "../chain/hash-constants.ts";

export type Account = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: bigint;
  readonly storageRoot: bigint;
};

/** Contract code and its hash. Equal code is the same object while it is in the cache. */
export type AccountCode = { readonly bytes: Uint8Array; readonly hash: bigint };

export const EMPTY_CODE: AccountCode = {
  bytes: new Uint8Array(0),
  hash: readBigEndian(keccak256(new Uint8Array(0)), 0, 32),
};
export const EMPTY_STORAGE_ROOT: bigint = readBigEndian(EMPTY_TRIE_ROOT, 0, 32);

/** Two hashes with their prefixes. */
const HASHES_SIZE = 66;
const scratch = new Uint8Array(4 + 33 + 33 + HASHES_SIZE);

/** The RLP list of nonce, balance, storage root and code hash. */
export function encodeAccount(account: Account): Uint8Array {
  let at = writeInteger(account.nonce, 2);
  at = writeInteger(account.balance, at);
  scratch[at] = 0xa0;
  writeBigEndian(account.storageRoot, scratch, at + 1, 32);
  scratch[at + 33] = 0xa0;
  writeBigEndian(account.codeHash, scratch, at + 34, 32);
  at += HASHES_SIZE;
  // 66 bytes of hashes put the list's length in 56 .. 255 always.
  scratch[0] = 0xf8;
  scratch[1] = at - 2;
  return scratch.slice(0, at);
}

/** For bytes that `encodeAccount` wrote. */
export function decodeAccount(bytes: Uint8Array): Account {
  const hashes = bytes.length - HASHES_SIZE;
  invariant(hashes >= 4 && bytes[0] === 0xf8, "a stored account is well formed");
  const nonceEnd = integerEnd(bytes, 2);
  invariant(integerEnd(bytes, nonceEnd) === hashes, "a stored account is well formed");
  return {
    nonce: readInteger(bytes, 2, nonceEnd),
    balance: readInteger(bytes, nonceEnd, hashes),
    storageRoot: readBigEndian(bytes, hashes + 1, 32),
    codeHash: readBigEndian(bytes, hashes + 34, 32),
  };
}

function writeInteger(value: bigint, at: number): number {
  const size = bigEndianSize(value);
  if (size === 1 && value < 0x80n) {
    scratch[at] = Number(value);
    return at + 1;
  }
  scratch[at] = 0x80 + size;
  writeBigEndian(value, scratch, at + 1, size);
  return at + 1 + size;
}

function integerEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  return first < 0x80 ? at + 1 : at + 1 + (first - 0x80);
}

function readInteger(bytes: Uint8Array, start: number, end: number): bigint {
  if (end === start + 1) return BigInt((bytes[start] ?? 0) & 0x7f);
  return readBigEndian(bytes, start + 1, end - start - 1);
}

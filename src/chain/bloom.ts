/** The 2048-bit filter in receipts and headers that says which logs are certainly not there. */
import { writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { HASH_SIZE, keccak256Into } from "../crypto/keccak256.ts";
import { ADDRESS_SIZE } from "./address.ts";

export type Log = {
  readonly address: bigint;
  /** At most four. */
  readonly topics: readonly bigint[];
  readonly data: Uint8Array;
};

export const BLOOM_SIZE = 256;
const WORD_SIZE = 32;

/** Filled and hashed within one synchronous call. */
const addressBytes = new Uint8Array(ADDRESS_SIZE);
const topicBytes = new Uint8Array(WORD_SIZE);
const hashBytes = new Uint8Array(HASH_SIZE);

/** Three bits for each log's address and for each of its topics. */
export function bloomOfLogs(logs: readonly Log[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_SIZE);
  for (const { address, topics } of logs) {
    setBits(bloom, hashAddress(address));
    for (const topic of topics) setBits(bloom, hashTopic(topic));
  }
  return bloom;
}

/** The filter of a block: whatever any of its receipts has. */
export function mergeBlooms(blooms: readonly Uint8Array[]): Uint8Array {
  const merged = new Uint8Array(BLOOM_SIZE);
  for (const bloom of blooms) {
    invariant(bloom.length === BLOOM_SIZE, "a bloom has 256 bytes");
    for (let index = 0; index < BLOOM_SIZE; index++) {
      merged[index] = (merged[index] ?? 0) | (bloom[index] ?? 0);
    }
  }
  return merged;
}

/** False: no log of this address is there. True: there may be one. */
export function mayHaveAddress(bloom: Uint8Array, address: bigint): boolean {
  return hasBits(bloom, hashAddress(address));
}

export function mayHaveTopic(bloom: Uint8Array, topic: bigint): boolean {
  return hasBits(bloom, hashTopic(topic));
}

function hashAddress(address: bigint): Uint8Array {
  writeBigEndian(address, addressBytes, 0, ADDRESS_SIZE);
  keccak256Into(addressBytes, 0, ADDRESS_SIZE, hashBytes, 0);
  return hashBytes;
}

function hashTopic(topic: bigint): Uint8Array {
  writeBigEndian(topic, topicBytes, 0, WORD_SIZE);
  keccak256Into(topicBytes, 0, WORD_SIZE, hashBytes, 0);
  return hashBytes;
}

function setBits(bloom: Uint8Array, hash: Uint8Array): void {
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = bitAt(hash, pair);
    const index = BLOOM_SIZE - 1 - (bit >> 3);
    bloom[index] = (bloom[index] ?? 0) | (1 << (bit & 7));
  }
}

function hasBits(bloom: Uint8Array, hash: Uint8Array): boolean {
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = bitAt(hash, pair);
    if (((bloom[BLOOM_SIZE - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** The low 11 bits of a pair of the hash's bytes. */
function bitAt(hash: Uint8Array, pair: number): number {
  return (((hash[pair] ?? 0) << 8) | (hash[pair + 1] ?? 0)) & 0x7ff;
}

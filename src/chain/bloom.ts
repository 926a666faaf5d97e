/** The 2048-bit filter in receipts and headers that says which logs are certainly not there. */
import { invariant } from "../base/invariant.ts";
import { addressHash, wordHash } from "./word-hash.ts";

export type Log = {
  readonly address: bigint;
  /** At most four. */
  readonly topics: readonly bigint[];
  readonly data: Uint8Array;
};

export const BLOOM_SIZE = 256;
/** Blooms are made by the block: memory for several at a time costs less than for each. */
const POOL_SIZE = 64 * BLOOM_SIZE;

let pool = new Uint8Array(POOL_SIZE);
let poolUsed = 0;

/** Three bits for each log's address and for each of its topics. */
export function bloomOfLogs(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM;
  const bloom = createBloom();
  for (const { address, topics } of logs) {
    setBits(bloom, addressHash(address));
    for (const topic of topics) setBits(bloom, wordHash(topic));
  }
  return bloom;
}

/** Of all receipts without logs. Blooms are never changed once they are made. */
const EMPTY_BLOOM = new Uint8Array(BLOOM_SIZE);

function createBloom(): Uint8Array {
  if (poolUsed === POOL_SIZE) {
    pool = new Uint8Array(POOL_SIZE);
    poolUsed = 0;
  }
  poolUsed += BLOOM_SIZE;
  return pool.subarray(poolUsed - BLOOM_SIZE, poolUsed);
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

/** The three bits of one address or topic, to be looked for in many blooms. */
export type BloomBits = readonly [number, number, number];

export function addressBits(address: bigint): BloomBits {
  return bitsOf(addressHash(address));
}

export function topicBits(topic: bigint): BloomBits {
  return bitsOf(wordHash(topic));
}

/** False: no log of this address, or with this topic, is there. True: there may be one. */
export function mayHave(bloom: Uint8Array, [first, second, third]: BloomBits): boolean {
  return hasBit(bloom, first) && hasBit(bloom, second) && hasBit(bloom, third);
}

function setBits(bloom: Uint8Array, hash: Uint8Array): void {
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = bitAt(hash, pair);
    const index = BLOOM_SIZE - 1 - (bit >> 3);
    bloom[index] = (bloom[index] ?? 0) | (1 << (bit & 7));
  }
}

function hasBit(bloom: Uint8Array, bit: number): boolean {
  return ((bloom[BLOOM_SIZE - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
}

function bitsOf(hash: Uint8Array): BloomBits {
  return [bitAt(hash, 0), bitAt(hash, 2), bitAt(hash, 4)];
}

/** The low 11 bits of a pair of the hash's bytes. */
function bitAt(hash: Uint8Array, pair: number): number {
  return (((hash[pair] ?? 0) << 8) | (hash[pair + 1] ?? 0)) & 0x7ff;
}

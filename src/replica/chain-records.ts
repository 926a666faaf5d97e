/**
 * What the execution keeps beside the state, written in the same transactions: how far it came, the
 * block that the next one extends, and the hashes and results that are still asked for. The first
 * byte of a key is above all those of src/state.
 */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { concatBytes, equalBytes } from "../base/bytes.ts";
import { CodedError } from "../base/coded-error.ts";
import { decodeHeader, encodeHeader, headerHash, type Header } from "../chain/header.ts";
import type { StateChange, StateEntry } from "../storage/state-store.ts";

/** The end of the Ethereum chain. */
export type ChainHead = { readonly header: Header; readonly hash: Uint8Array };

/** BLOCKHASH reaches back 256 blocks, and consensus asks for results of fewer heights than that. */
export const RING_SIZE = 256;

const GENESIS_KEY = Uint8Array.of(0xf0);
const HEAD_KEY = Uint8Array.of(0xf1);
const BLOCK_HASH_KIND = 0xf2;
const RESULT_KIND = 0xf3;
const HEIGHT_SIZE = 8;
const HASH_SIZE = 32;

type Reader = { get(key: Uint8Array): Uint8Array | undefined };

/** Block 0 and the network that it belongs to: a directory is of one network for ever. */
export type GenesisRecord = {
  readonly net: Uint8Array;
  readonly blockHash: Uint8Array;
  readonly result: Uint8Array;
};

export function genesisRecord({ net, blockHash, result }: GenesisRecord): StateEntry {
  return { key: GENESIS_KEY, value: concatBytes(net, blockHash, result) };
}

export function readGenesisRecord(store: Reader): GenesisRecord | undefined {
  const bytes = store.get(GENESIS_KEY);
  if (bytes === undefined) return undefined;
  const field = (index: number): Uint8Array =>
    Uint8Array.from(bytes.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE));
  return { net: field(0), blockHash: field(1), result: field(2) };
}

export function headRecord({ header }: ChainHead): StateEntry {
  return { key: HEAD_KEY, value: encodeHeader(header) };
}

/** Throws STATE_CORRUPT: a state without its head cannot be extended. */
export function readHead(store: Reader): ChainHead {
  const bytes = store.get(HEAD_KEY);
  const header = bytes === undefined ? undefined : decodeHeader(Uint8Array.from(bytes));
  if (header?.ok !== true) throw new CodedError("STATE_CORRUPT", { record: "head" });
  return { header: header.value, hash: headerHash(header.value) };
}

export function blockHashRecord(number: bigint, hash: Uint8Array): StateChange {
  return { key: ringKey(BLOCK_HASH_KIND, Number(number)), value: positioned(number, hash) };
}

export function resultRecord(height: number, result: Uint8Array): StateChange {
  return { key: ringKey(RESULT_KIND, height), value: positioned(BigInt(height), result) };
}

/** The hashes of the last blocks up to `latest`, by number. */
export function readBlockHashes(store: Reader, latest: bigint): Map<bigint, Uint8Array> {
  const hashes = new Map<bigint, Uint8Array>();
  for (const [position, hash] of readRing(store, BLOCK_HASH_KIND, Number(latest))) {
    hashes.set(BigInt(position), hash);
  }
  return hashes;
}

/** The results of the last heights up to `latest`, lowest first. */
export function readResults(store: Reader, latest: number): Map<number, Uint8Array> {
  return readRing(store, RESULT_KIND, latest);
}

function readRing(store: Reader, kind: number, latest: number): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  for (let position = Math.max(0, latest - RING_SIZE + 1); position <= latest; position++) {
    const bytes = store.get(ringKey(kind, position));
    if (bytes === undefined || readBigEndian(bytes, 0, HEIGHT_SIZE) !== BigInt(position)) continue;
    found.set(position, Uint8Array.from(bytes.subarray(HEIGHT_SIZE)));
  }
  return found;
}

/** A slot of the ring says whose it is: an older entry may still be in it. */
function positioned(position: bigint, hash: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEIGHT_SIZE + hash.length);
  writeBigEndian(position, bytes, 0, HEIGHT_SIZE);
  bytes.set(hash, HEIGHT_SIZE);
  return bytes;
}

function ringKey(kind: number, position: number): Uint8Array {
  return Uint8Array.of(kind, position % RING_SIZE);
}

/** Throws GENESIS_MISMATCH if the data belongs to another network or another block 0. */
export function assertGenesis(
  expected: { readonly net: Uint8Array; readonly blockHash: Uint8Array | undefined },
  found: { readonly net: Uint8Array; readonly blockHash: Uint8Array },
): void {
  const { blockHash } = expected;
  const isBlockSame = blockHash === undefined || equalBytes(blockHash, found.blockHash);
  if (equalBytes(expected.net, found.net) && isBlockSame) return;
  throw new CodedError("GENESIS_MISMATCH", {
    advice: "use the genesis that this data directory was made with, or another directory",
  });
}

/**
 * What a client node keeps beside the state, written in the same transactions: the network it
 * belongs to, the end of its Ethereum chain, and where each block number is to be found. The first
 * byte of a key is above all those of src/state.
 */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { concatBytes, equalBytes } from "../base/bytes.ts";
import { CodedError } from "../base/coded-error.ts";
import { decodeHeader, encodeHeader, headerHash, type Header } from "../chain/header.ts";
import type { StateEntry } from "../storage/state-store.ts";

/** The end of the Ethereum chain. */
export type ChainHead = { readonly header: Header; readonly hash: Uint8Array };

export type GenesisRecord = {
  readonly net: Uint8Array;
  readonly blockHash: Uint8Array;
  readonly result: Uint8Array;
};

/** The consensus height that made a block, and the block's hash. */
export type NumberRecord = { readonly height: number; readonly hash: Uint8Array };

const GENESIS_KEY = Uint8Array.of(0xf0);
const HEAD_KEY = Uint8Array.of(0xf1);
const NUMBER_KIND = 0xf4;
const INTEGER_SIZE = 8;
const HASH_SIZE = 32;

type Reader = { get(key: Uint8Array): Uint8Array | undefined };

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

/** Throws GENESIS_MISMATCH if the data belongs to another network or another block 0. */
export function assertGenesis(
  expected: { readonly net: Uint8Array; readonly blockHash: Uint8Array | undefined },
  found: GenesisRecord,
): void {
  const { blockHash } = expected;
  const isBlockSame = blockHash === undefined || equalBytes(blockHash, found.blockHash);
  if (equalBytes(expected.net, found.net) && isBlockSame) return;
  throw new CodedError("GENESIS_MISMATCH", {
    advice: "use the genesis that this data directory was made with, or another directory",
  });
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

export function numberRecord(number: bigint, { height, hash }: NumberRecord): StateEntry {
  const value = new Uint8Array(INTEGER_SIZE + HASH_SIZE);
  writeBigEndian(BigInt(height), value, 0, INTEGER_SIZE);
  value.set(hash, INTEGER_SIZE);
  return { key: numberKey(number), value };
}

export function readNumberRecord(store: Reader, number: bigint): NumberRecord | undefined {
  const bytes = store.get(numberKey(number));
  if (bytes === undefined) return undefined;
  const hash = Uint8Array.from(bytes.subarray(INTEGER_SIZE));
  return { height: Number(readBigEndian(bytes, 0, INTEGER_SIZE)), hash };
}

function numberKey(number: bigint): Uint8Array {
  const key = new Uint8Array(1 + INTEGER_SIZE);
  key[0] = NUMBER_KIND;
  writeBigEndian(number, key, 1, INTEGER_SIZE);
  return key;
}

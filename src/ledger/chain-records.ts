/**
 * What every node keeps beside the state, written in the same transactions: the network that the
 * data belongs to, and the block that the next one extends. The first byte of a key is above all
 * those of src/state; 0xf2 and up are the records of one kind of node.
 */
import { concatBytes, equalBytes } from "../base/bytes.ts";
import { CodedError } from "../base/coded-error.ts";
import { decodeHeader, encodeHeader, headerHash, type Header } from "../chain/header.ts";
import type { StoredStateEntry } from "../storage/state-store.ts";

/** The end of the Ethereum chain. */
export type ChainHead = { readonly header: Header; readonly hash: Uint8Array };

/** Block 0 and the network that it belongs to: a directory is of one network for ever. */
export type GenesisRecord = {
  readonly net: Uint8Array;
  readonly blockHash: Uint8Array;
  readonly result: Uint8Array;
};

export type RecordReader = { get(key: Uint8Array): Uint8Array | undefined };

const GENESIS_KEY = Uint8Array.of(0xf0);
const HEAD_KEY = Uint8Array.of(0xf1);
const HASH_SIZE = 32;

export function genesisRecord({ net, blockHash, result }: GenesisRecord): StoredStateEntry {
  return { key: GENESIS_KEY, value: concatBytes(net, blockHash, result) };
}

export function readGenesisRecord(store: RecordReader): GenesisRecord | undefined {
  const bytes = store.get(GENESIS_KEY);
  if (bytes === undefined) return undefined;
  const field = (index: number): Uint8Array =>
    Uint8Array.from(bytes.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE));
  return { net: field(0), blockHash: field(1), result: field(2) };
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

export function headRecord({ header }: ChainHead): StoredStateEntry {
  return { key: HEAD_KEY, value: encodeHeader(header) };
}

/** Throws STATE_CORRUPT: a state without its head cannot be extended. */
export function readHead(store: RecordReader): ChainHead {
  const bytes = store.get(HEAD_KEY);
  const header = bytes === undefined ? undefined : decodeHeader(Uint8Array.from(bytes));
  if (header?.ok !== true) throw new CodedError("STATE_CORRUPT", { record: "head" });
  return { header: header.value, hash: headerHash(header.value) };
}

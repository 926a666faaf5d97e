/**
 * Where each block number of the chain is to be found: records beside the state, for ever, written
 * in the same transactions (src/ledger/chain-records.ts).
 */
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import type { RecordReader } from "../../ledger/chain-records.ts";
import type { LedgerIndex, LedgerStep } from "../../ledger/ledger-index.ts";
import type { StateChange } from "../../storage/state-store.ts";

/** The consensus height that made a block, and the block's hash. */
export type NumberRecord = { readonly height: number; readonly hash: Uint8Array };

const NUMBER_KIND = 0xf4;
const INTEGER_SIZE = 8;
const HASH_SIZE = 32;

export class BlockNumbers implements LedgerIndex {
  readonly #store: RecordReader;
  /** Of the heights since the last write. */
  readonly #unwritten = new Map<bigint, NumberRecord>();

  constructor(store: RecordReader) {
    this.#store = store;
  }

  open(): void {
    // Everything is read when it is asked for.
  }

  /** Undefined if no block has the number yet. */
  find(number: bigint): NumberRecord | undefined {
    return this.#unwritten.get(number) ?? readNumberRecord(this.#store, number);
  }

  /** The hashes of the blocks that are not written yet. */
  unwrittenHashes(): [number: bigint, hash: Uint8Array][] {
    return Array.from(this.#unwritten, ([number, { hash }]) => [number, hash]);
  }

  blockHash(number: bigint): Uint8Array | undefined {
    return this.find(number)?.hash;
  }

  note({ height, head }: LedgerStep): readonly StateChange[] {
    if (head === undefined) return [];
    const record = { height, hash: head.hash };
    this.#unwritten.set(head.header.number, record);
    return [numberRecord(head.header.number, record)];
  }

  onWritten(): void {
    this.#unwritten.clear();
  }
}

function numberRecord(number: bigint, { height, hash }: NumberRecord): StateChange {
  const value = new Uint8Array(INTEGER_SIZE + HASH_SIZE);
  writeBigEndian(BigInt(height), value, 0, INTEGER_SIZE);
  value.set(hash, INTEGER_SIZE);
  return { key: numberKey(number), value };
}

/** For those who have a store to read from; undefined if it is not written or no block has it. */
export function readNumberRecord(store: RecordReader, number: bigint): NumberRecord | undefined {
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

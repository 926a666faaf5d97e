/**
 * What a replica remembers of the chain besides its end: the headers of the last blocks, which
 * prove each other's hashes for BLOCKHASH, and the results of the last heights, which consensus
 * asks for again after a restart. Both are rings beside the state (src/ledger/chain-records.ts).
 */
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import { CodedError } from "../../base/coded-error.ts";
import { decodeHeader, encodeHeader, type Header } from "../../chain/header.ts";
import type { ChainHead, RecordReader } from "../../ledger/chain-records.ts";
import type { LedgerIndex, LedgerStep } from "../../ledger/ledger-index.ts";
import type { StateChange } from "../../storage/state-store.ts";

/** BLOCKHASH reaches back 256 blocks, and consensus asks for results of fewer heights than that. */
export const RING_SIZE = 256;

const RESULT_KIND = 0xf3;
const HEADER_KIND = 0xf5;
const HEIGHT_SIZE = 8;

export class RecentChain implements LedgerIndex {
  readonly #store: RecordReader;
  readonly #hashes = new Map<bigint, Uint8Array>();

  constructor(store: RecordReader) {
    this.#store = store;
  }

  open({ header, hash }: ChainHead): void {
    for (const { number, parentHash } of readRecentHeaders(this.#store, header.number)) {
      if (number > 0n) this.#hashes.set(number - 1n, parentHash);
    }
    this.#hashes.set(header.number, hash);
  }

  blockHash(number: bigint): Uint8Array | undefined {
    return this.#hashes.get(number);
  }

  note({ height, result, head }: LedgerStep): readonly StateChange[] {
    const results = [resultRecord(height, result)];
    if (head === undefined) return results;
    const { number } = head.header;
    this.#hashes.set(number, head.hash);
    this.#hashes.delete(number - BigInt(RING_SIZE));
    return [headerRecord(head.header), ...results];
  }

  onWritten(): void {
    // What is in memory stays: it is small, and asked for by every block that looks back.
  }
}

export function headerRecord(header: Header): StateChange {
  return { key: ringKey(HEADER_KIND, Number(header.number)), value: encodeHeader(header) };
}

export function resultRecord(height: number, result: Uint8Array): StateChange {
  const value = new Uint8Array(HEIGHT_SIZE + result.length);
  writeBigEndian(BigInt(height), value, 0, HEIGHT_SIZE);
  value.set(result, HEIGHT_SIZE);
  return { key: ringKey(RESULT_KIND, height), value };
}

/** The last blocks up to `latest`, lowest first. Throws STATE_CORRUPT when one is missing. */
export function readRecentHeaders(store: RecordReader, latest: bigint): Header[] {
  const first = latest < BigInt(RING_SIZE) ? 0n : latest - BigInt(RING_SIZE) + 1n;
  const headers: Header[] = [];
  for (let number = first; number <= latest; number++) {
    const bytes = store.get(ringKey(HEADER_KIND, Number(number)));
    const header = bytes === undefined ? undefined : decodeHeader(Uint8Array.from(bytes));
    if (header?.ok !== true || header.value.number !== number) {
      throw new CodedError("STATE_CORRUPT", { record: "header", block: number });
    }
    headers.push(header.value);
  }
  return headers;
}

/** The results of the last heights up to `latest`, lowest first. Some may be missing. */
export function readResults(store: RecordReader, latest: number): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  for (let height = Math.max(0, latest - RING_SIZE + 1); height <= latest; height++) {
    const bytes = store.get(ringKey(RESULT_KIND, height));
    // A slot of the ring says whose it is: an older entry may still be in it.
    if (bytes === undefined || readBigEndian(bytes, 0, HEIGHT_SIZE) !== BigInt(height)) continue;
    found.set(height, Uint8Array.from(bytes.subarray(HEIGHT_SIZE)));
  }
  return found;
}

function ringKey(kind: number, position: number): Uint8Array {
  return Uint8Array.of(kind, position % RING_SIZE);
}

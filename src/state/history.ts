/**
 * The past is kept as reverse differences: for every key that a block changed, what it held before
 * (write-behind-store.ts reads and writes those). Here is the index: what each block changed.
 */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { ADDRESS_SIZE } from "../chain/address.ts";
import { BLOCK_SIZE, WORD_SIZE, blockKey } from "./state-keys.ts";
import type { WriteBehindStore } from "./write-behind-store.ts";

const COUNT_SIZE = 4;

/** What is known of a committed block. */
export type HistoryRecord = {
  /** The last block, up to this one, with which the tries were saved. */
  readonly checkpoint: bigint;
  readonly stateRoot: Uint8Array;
  readonly changed: readonly ChangedAccount[];
};

/** An account that the block changed, with those of its slots that it changed. */
export type ChangedAccount = { readonly address: bigint; readonly slots: readonly bigint[] };

/** The record of a block that is committed and not pruned. */
export function readHistoryRecord(store: WriteBehindStore, block: bigint): HistoryRecord {
  const stored = store.get(blockKey(block));
  invariant(stored !== undefined, "a retained block has its record");
  return decodeHistoryRecord(stored);
}

export function encodeHistoryRecord(record: HistoryRecord): Uint8Array {
  let size = BLOCK_SIZE + WORD_SIZE;
  for (const { slots } of record.changed) {
    size += ADDRESS_SIZE + COUNT_SIZE + slots.length * WORD_SIZE;
  }
  const bytes = new Uint8Array(size);
  writeBigEndian(record.checkpoint, bytes, 0, BLOCK_SIZE);
  bytes.set(record.stateRoot, BLOCK_SIZE);
  const view = new DataView(bytes.buffer);
  let at = BLOCK_SIZE + WORD_SIZE;
  for (const { address, slots } of record.changed) {
    writeBigEndian(address, bytes, at, ADDRESS_SIZE);
    view.setUint32(at + ADDRESS_SIZE, slots.length);
    at += ADDRESS_SIZE + COUNT_SIZE;
    for (const slot of slots) {
      writeBigEndian(slot, bytes, at, WORD_SIZE);
      at += WORD_SIZE;
    }
  }
  return bytes;
}

export function decodeHistoryRecord(bytes: Uint8Array): HistoryRecord {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const changed: ChangedAccount[] = [];
  let at = BLOCK_SIZE + WORD_SIZE;
  while (at < bytes.length) {
    const address = readBigEndian(bytes, at, ADDRESS_SIZE);
    const count = view.getUint32(at + ADDRESS_SIZE);
    at += ADDRESS_SIZE + COUNT_SIZE;
    const slots: bigint[] = [];
    for (let index = 0; index < count; index++) {
      slots.push(readBigEndian(bytes, at, WORD_SIZE));
      at += WORD_SIZE;
    }
    changed.push({ address, slots });
  }
  return {
    checkpoint: readBigEndian(bytes, 0, BLOCK_SIZE),
    stateRoot: bytes.slice(BLOCK_SIZE, BLOCK_SIZE + WORD_SIZE),
    changed,
  };
}

/** A list of keys of up to 255 bytes; never empty, because a store takes no empty values. */
export function encodeKeyList(keys: readonly Uint8Array[]): Uint8Array {
  let size = COUNT_SIZE;
  for (const key of keys) size += 1 + key.length;
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, keys.length);
  let at = COUNT_SIZE;
  for (const key of keys) {
    bytes[at] = key.length;
    bytes.set(key, at + 1);
    at += 1 + key.length;
  }
  return bytes;
}

export function decodeKeyList(bytes: Uint8Array): Uint8Array[] {
  const keys: Uint8Array[] = [];
  let at = COUNT_SIZE;
  while (at < bytes.length) {
    const size = bytes[at] ?? 0;
    keys.push(bytes.slice(at + 1, at + 1 + size));
    at += 1 + size;
  }
  return keys;
}

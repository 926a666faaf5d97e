/**
 * The whole latest state in chunks of bounded size, for a replica that has lost its own. Chunks
 * follow the order of the keys; the receiver builds the state from them and believes it only if
 * the root is the certified one.
 */
import { readBigEndian } from "../base/big-endian.ts";
import { unreachable } from "../base/invariant.ts";
import { addressHash, wordHash } from "../chain/word-hash.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT, encodeAccount, type Account } from "./account.ts";
import { encodeSlotValue } from "./slot-value.ts";
import { accountsOf, slotsOf } from "./state-scan.ts";
import { Trie } from "./trie.ts";
import type { WriteBehindStore } from "./write-behind-store.ts";

export type SnapshotEntry =
  | { readonly kind: "account"; readonly address: bigint; readonly account: Account }
  | {
      readonly kind: "slot";
      readonly address: bigint;
      readonly slot: bigint;
      readonly value: bigint;
    }
  | { readonly kind: "code"; readonly hash: bigint; readonly bytes: Uint8Array };

/** Where a chunk begins. An account comes before its slots. */
export type SnapshotCursor = { readonly address: bigint; readonly slot: bigint | undefined };

export type SnapshotChunk = {
  readonly entries: readonly SnapshotEntry[];
  /** Undefined after the last chunk. */
  readonly next: SnapshotCursor | undefined;
};

export const SNAPSHOT_START: SnapshotCursor = { address: 0n, slot: undefined };

/**
 * At most about `entriesMax` entries from the cursor on, in the order of address and slot. An
 * account comes with its code, if it has any.
 */
export function readSnapshotChunk(
  store: WriteBehindStore,
  readCode: (hash: bigint) => Uint8Array,
  cursor: SnapshotCursor,
  entriesMax: number,
): SnapshotChunk {
  store.flush();
  const entries: SnapshotEntry[] = [];
  for (const { address, account } of accountsOf(store, cursor.address)) {
    const resumedAt = address === cursor.address ? cursor.slot : undefined;
    if (resumedAt === undefined) {
      if (entries.length >= entriesMax) return { entries, next: { address, slot: undefined } };
      entries.push({ kind: "account", address, account });
      if (account.codeHash !== EMPTY_CODE.hash) {
        const bytes = readCode(account.codeHash);
        entries.push({ kind: "code", hash: account.codeHash, bytes });
      }
    }
    if (account.storageRoot === EMPTY_STORAGE_ROOT) continue;
    for (const { slot, value } of slotsOf(store, address, resumedAt ?? 0n)) {
      if (entries.length >= entriesMax) return { entries, next: { address, slot } };
      entries.push({ kind: "slot", address, slot, value });
    }
  }
  return { entries, next: undefined };
}

/**
 * The state root that the entries of a whole snapshot have, in their order; undefined if they
 * contradict themselves. It holds the account trie and one storage trie at a time.
 */
export function rebuildRoot(entries: Iterable<SnapshotEntry>): Uint8Array | undefined {
  const accounts = new Trie();
  let storage = new Trie();
  let current: { readonly address: bigint; readonly account: Account } | undefined;
  let missingCode = EMPTY_CODE.hash;
  const isComplete = (): boolean =>
    current === undefined ||
    (missingCode === EMPTY_CODE.hash &&
      readBigEndian(storage.rootHash(), 0, 32) === current.account.storageRoot);
  for (const entry of entries) {
    switch (entry.kind) {
      case "account":
        if (!isComplete()) return undefined;
        if (current !== undefined && entry.address <= current.address) return undefined;
        current = { address: entry.address, account: entry.account };
        missingCode = entry.account.codeHash;
        storage = new Trie();
        accounts.put(addressHash(entry.address), encodeAccount(entry.account));
        break;
      case "code":
        if (entry.hash !== missingCode) return undefined;
        if (readBigEndian(keccak256(entry.bytes), 0, 32) !== entry.hash) return undefined;
        missingCode = EMPTY_CODE.hash;
        break;
      case "slot":
        if (entry.address !== current?.address || entry.value === 0n) return undefined;
        storage.put(wordHash(entry.slot), encodeSlotValue(entry.value));
        break;
      default:
        unreachable(entry);
    }
  }
  return isComplete() ? accounts.rootHash() : undefined;
}

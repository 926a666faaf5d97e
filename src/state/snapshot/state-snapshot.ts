/**
 * The whole state of a store in chunks of bounded size, for a replica that has lost its own. Chunks
 * follow the order of the keys; the receiver builds the state from them and accepts it only if the
 * root is the certified one (state-import.ts).
 */
import { invariant } from "../../base/invariant.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT, type Account } from "../account.ts";
import type { KeyValueStore } from "../key-value-store.ts";
import { codeKey } from "../state-keys.ts";
import { accountsOf, slotsOf } from "./state-scan.ts";

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

/** Roughly what an account or a slot takes on the wire; code takes its own size on top. */
const ENTRY_SIZE = 128;

/**
 * Entries from the cursor on, in the order of address and slot, until they take about `sizeMax`
 * bytes; always one if there is one. An account comes with its code, if it has any. The store must
 * not be written to meanwhile.
 */
export function readSnapshotChunk(
  store: Pick<KeyValueStore, "get" | "seek">,
  cursor: SnapshotCursor,
  sizeMax: number,
): SnapshotChunk {
  const scan = { seekStored: (from: Uint8Array) => store.seek(from) };
  const entries: SnapshotEntry[] = [];
  let size = 0;
  const add = (entry: SnapshotEntry): void => {
    size += ENTRY_SIZE + (entry.kind === "code" ? entry.bytes.length : 0);
    entries.push(entry);
  };
  for (const { address, account } of accountsOf(scan, cursor.address)) {
    const resumedAt = address === cursor.address ? cursor.slot : undefined;
    if (resumedAt === undefined) {
      if (entries.length > 0 && size >= sizeMax) {
        return { entries, next: { address, slot: undefined } };
      }
      add({ kind: "account", address, account });
      if (account.codeHash !== EMPTY_CODE.hash) {
        const bytes = store.get(codeKey(account.codeHash));
        invariant(bytes !== undefined, "the code of an account is in the store");
        add({ kind: "code", hash: account.codeHash, bytes });
      }
    }
    if (account.storageRoot === EMPTY_STORAGE_ROOT) continue;
    for (const { slot, value } of slotsOf(scan, address, resumedAt ?? 0n)) {
      if (entries.length > 0 && size >= sizeMax) return { entries, next: { address, slot } };
      add({ kind: "slot", address, slot, value });
    }
  }
  return { entries, next: undefined };
}

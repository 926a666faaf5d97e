/**
 * Walks over the flat state in the order of its keys, one entry at a time. It sees what is in the
 * store: flush before.
 */
import { readBigEndian } from "../../base/big-endian.ts";
import { decodeAccount, type Account } from "../account.ts";
import { decodeSlotValue } from "../slot-value.ts";
import { ADDRESS_SIZE } from "../../chain/address.ts";
import { KEY_KIND, WORD_SIZE, accountKey, slotKey } from "../state-keys.ts";
import type { Entry } from "../key-value-store.ts";

/** What is in a store, by the order of its keys. */
type StoredEntries = { seekStored(from: Uint8Array): Entry | undefined };

export type SlotEntry = { readonly slot: bigint; readonly value: bigint };
export type AccountEntry = { readonly address: bigint; readonly account: Account };

/** The account's slots, from the first at or after `from`. */
export function* slotsOf(store: StoredEntries, address: bigint, from = 0n): Generator<SlotEntry> {
  const first = slotKey(address, from);
  const size = first.length;
  for (let next = first; ;) {
    const entry = store.seekStored(next);
    if (entry === undefined || entry.key[0] !== KEY_KIND.slot) return;
    if (readBigEndian(entry.key, 1, ADDRESS_SIZE) !== address) return;
    const slot = readBigEndian(entry.key, 1 + ADDRESS_SIZE, WORD_SIZE);
    yield { slot, value: decodeSlotValue(entry.value) };
    next = new Uint8Array(size + 1);
    next.set(entry.key);
  }
}

/** All accounts, from the first at or after `from`. */
export function* accountsOf(store: StoredEntries, from = 0n): Generator<AccountEntry> {
  const first = accountKey(from);
  for (let next = first; ;) {
    const entry = store.seekStored(next);
    if (entry === undefined || entry.key[0] !== KEY_KIND.account) return;
    const address = readBigEndian(entry.key, 1, ADDRESS_SIZE);
    yield { address, account: decodeAccount(entry.value) };
    next = new Uint8Array(first.length + 1);
    next.set(entry.key);
  }
}

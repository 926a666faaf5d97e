/**
 * Changes held in memory in front of a store, and read through. A commit costs the store much, so
 * the changes of several blocks go in one, and a key that changed in each is written once.
 *
 * With a change may go what the key held before (history.ts). The value at block N is in the first
 * such difference after N, or is the current one if there is none.
 */
import { readBigEndian } from "../base/big-endian.ts";
import { keyText } from "./key-text.ts";
import type { Change, Entry, KeyValueStore } from "./key-value-store.ts";
import { PendingChangeWriter, readPendingChanges, type PendingChange } from "./pending-changes.ts";
import { ADDRESS_SIZE } from "../chain/address.ts";
import { BLOCK_SIZE, KEY_KIND, WORD_SIZE, accountKey, historyKey, slotKey } from "./state-keys.ts";
import { WordMap } from "./word-map.ts";

/** Stands for a value that was not there. No value in the store is this one byte. */
const ABSENT = Uint8Array.of(0);

/** What a key held before a block. */
type Difference = {
  readonly block: bigint;
  readonly value: Uint8Array | undefined;
  /** The one of the last block before that changed the key, if it is not in the store yet. */
  readonly earlier: Difference | undefined;
};

/** A key's new value, and its differences in the blocks since the last flush. */
type Pending = {
  value: Uint8Array | undefined;
  latest: Difference | undefined;
  /** The number of its last change, counted over all keys. */
  changedAt: number;
};

/** An account may be here without a change of its own, for its slots. */
type PendingAccount = { own: Pending | undefined; slots: WordMap<Pending> | undefined };

export class WriteBehindStore {
  readonly #store: KeyValueStore;
  /** By address and slot, not by key: the text of a key costs more than all the rest. */
  readonly #accounts = new WordMap<PendingAccount>();
  /** Everything else, by the text of the key. */
  readonly #others = new Map<string, Pending & { readonly key: Uint8Array }>();
  #pendingCount = 0;
  #changeCount = 0;
  #flushCount = 0;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Keys that wait, differences included. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** How many changes there have been. */
  get changeCount(): number {
    return this.#changeCount;
  }

  /** How often everything pending was written. */
  get flushCount(): number {
    return this.#flushCount;
  }

  account(address: bigint): Uint8Array | undefined {
    const pending = this.#accounts.get(address)?.own;
    return pending === undefined ? this.#store.get(accountKey(address)) : pending.value;
  }

  slot(address: bigint, slot: bigint): Uint8Array | undefined {
    const pending = this.#accounts.get(address)?.slots?.get(slot);
    return pending === undefined ? this.#store.get(slotKey(address, slot)) : pending.value;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const pending = this.#others.size === 0 ? undefined : this.#others.get(keyText(key));
    return pending === undefined ? this.#store.get(key) : pending.value;
  }

  accountAt(address: bigint, block: bigint): Uint8Array | undefined {
    const pending = this.#accounts.get(address)?.own;
    return this.#valueAt(accountKey(address), pending, block);
  }

  slotAt(address: bigint, slot: bigint, block: bigint): Uint8Array | undefined {
    const pending = this.#accounts.get(address)?.slots?.get(slot);
    return this.#valueAt(slotKey(address, slot), pending, block);
  }

  getAt(key: Uint8Array, block: bigint): Uint8Array | undefined {
    return this.#valueAt(key, this.#others.get(keyText(key)), block);
  }

  /**
   * No value deletes the account. Where the past is kept, `block` is the one that makes the change
   * and `held` is what was there before it.
   */
  putAccount(
    address: bigint,
    value: Uint8Array | undefined,
    block: bigint | undefined,
    held: Uint8Array | undefined,
  ): void {
    const account = this.#pendingAccount(address);
    account.own ??= this.#newPending();
    this.#change(account.own, value, block, held);
  }

  putSlot(
    address: bigint,
    slot: bigint,
    value: Uint8Array | undefined,
    block: bigint | undefined,
    held: Uint8Array | undefined,
  ): void {
    const pending = this.#pendingSlot(this.#pendingAccount(address), slot);
    this.#change(pending, value, block, held);
  }

  put(key: Uint8Array, value: Uint8Array | undefined, block?: bigint, held?: Uint8Array): void {
    this.#change(this.#pendingOther(key), value, block, held);
  }

  delete(key: Uint8Array): void {
    this.put(key, undefined);
  }

  /** The first stored entry at or after a key. What is pending is not seen: flush before. */
  seekStored(from: Uint8Array): Entry | undefined {
    return this.#store.seek(from);
  }

  /** Writes everything pending in one commit. */
  flush(): void {
    if (this.#pendingCount === 0) return;
    const changes: Change[] = [];
    for (const [address, { own, slots }] of this.#accounts.entries()) {
      if (own !== undefined) pushChanges(changes, accountKey(address), own);
      if (slots === undefined) continue;
      for (const [slot, pending] of slots.entries()) {
        pushChanges(changes, slotKey(address, slot), pending);
      }
    }
    for (const pending of this.#others.values()) pushChanges(changes, pending.key, pending);
    this.#store.write(changes);
    this.forget();
    this.#flushCount++;
  }

  /** What is pending and changed after the change of that number, for another thread. */
  pendingSince(changeCount: number): Uint8Array<ArrayBuffer> {
    const writer = new PendingChangeWriter();
    for (const [address, { own, slots }] of this.#accounts.entries()) {
      if (own !== undefined && own.changedAt > changeCount) {
        writePending(writer, accountKey(address), own);
      }
      if (slots === undefined) continue;
      for (const [slot, pending] of slots.entries()) {
        if (pending.changedAt > changeCount) writePending(writer, slotKey(address, slot), pending);
      }
    }
    for (const pending of this.#others.values()) {
      if (pending.changedAt > changeCount) writePending(writer, pending.key, pending);
    }
    return writer.finish();
  }

  /** Takes over what another store has pending. */
  absorb(bytes: Uint8Array): void {
    for (const change of readPendingChanges(bytes)) this.#absorbOne(change);
  }

  /** Drops everything pending without writing it. */
  forget(): void {
    this.#accounts.clear();
    this.#others.clear();
    this.#pendingCount = 0;
  }

  #absorbOne({ key, value, differences }: PendingChange): void {
    const kind = key[0];
    let pending: Pending;
    if (kind === KEY_KIND.account || kind === KEY_KIND.slot) {
      const account = this.#pendingAccount(readBigEndian(key, 1, ADDRESS_SIZE));
      pending =
        kind === KEY_KIND.account
          ? (account.own ??= this.#newPending())
          : this.#pendingSlot(account, readBigEndian(key, 1 + ADDRESS_SIZE, WORD_SIZE));
    } else {
      pending = this.#pendingOther(key);
    }
    pending.value = value;
    pending.latest = undefined;
    for (const { block, value: held } of differences.toReversed()) {
      pending.latest = { block, value: held, earlier: pending.latest };
    }
  }

  #valueAt(key: Uint8Array, pending: Pending | undefined, block: bigint): Uint8Array | undefined {
    // Stored differences are older than pending ones.
    const from = historyKey(key, block + 1n);
    const found = this.#store.seek(from);
    if (found !== undefined && isSameButBlock(found.key, from)) {
      return found.value.length === 1 && found.value[0] === 0 ? undefined : found.value;
    }
    if (pending === undefined) return this.#store.get(key);
    let value = pending.value;
    for (let change = pending.latest; change !== undefined; change = change.earlier) {
      if (change.block <= block) break;
      value = change.value;
    }
    return value;
  }

  #pendingAccount(address: bigint): PendingAccount {
    let account = this.#accounts.get(address);
    if (account === undefined) {
      account = { own: undefined, slots: undefined };
      this.#accounts.set(address, account);
    }
    return account;
  }

  #pendingSlot(account: PendingAccount, slot: bigint): Pending {
    account.slots ??= new WordMap();
    let pending = account.slots.get(slot);
    if (pending === undefined) {
      pending = this.#newPending();
      account.slots.set(slot, pending);
    }
    return pending;
  }

  #pendingOther(key: Uint8Array): Pending {
    const text = keyText(key);
    let pending = this.#others.get(text);
    if (pending === undefined) {
      pending = { key, ...this.#newPending() };
      this.#others.set(text, pending);
    }
    return pending;
  }

  #newPending(): Pending {
    this.#pendingCount++;
    return { value: undefined, latest: undefined, changedAt: 0 };
  }

  #change(
    pending: Pending,
    value: Uint8Array | undefined,
    block: bigint | undefined,
    held: Uint8Array | undefined,
  ): void {
    pending.value = value;
    pending.changedAt = ++this.#changeCount;
    if (block === undefined) return;
    pending.latest = { block, value: held, earlier: pending.latest };
    this.#pendingCount++;
  }
}

function pushChanges(changes: Change[], key: Uint8Array, pending: Pending): void {
  changes.push({ key, value: pending.value });
  for (let change = pending.latest; change !== undefined; change = change.earlier) {
    changes.push({ key: historyKey(key, change.block), value: change.value ?? ABSENT });
  }
}

function writePending(writer: PendingChangeWriter, key: Uint8Array, pending: Pending): void {
  let count = 0;
  for (let change = pending.latest; change !== undefined; change = change.earlier) count++;
  writer.begin(key, pending.value, count);
  for (let change = pending.latest; change !== undefined; change = change.earlier) {
    writer.difference(change.block, change.value);
  }
}

function isSameButBlock(found: Uint8Array, wanted: Uint8Array): boolean {
  if (found.length !== wanted.length) return false;
  const end = wanted.length - BLOCK_SIZE;
  for (let index = 0; index < end; index++) if (found[index] !== wanted[index]) return false;
  return true;
}

/**
 * The state of the chain: flat for reads, tries beside it for roots and proofs, reverse
 * differences for the past (docs/adr/0005-state-layout.md). Blocks are committed in memory at once
 * and reach the store in one write with `flush`, several blocks later; after a crash the blocks
 * after `latestBlock` are executed again.
 */
import { readBigEndian } from "../base/big-endian.ts";
import { equalBytes } from "../base/bytes.ts";
import { CodedError } from "../base/coded-error.ts";
import { invariant } from "../base/invariant.ts";
import { addressHash, wordHash } from "../chain/word-hash.ts";
import {
  EMPTY_STORAGE_ROOT,
  decodeAccount,
  encodeAccount,
  type Account,
  type AccountCode,
} from "./account.ts";
import { proveAccount, proveAccountAt, type StateProof } from "./trie/account-proof.ts";
import type { AccountChange, BlockChanges, SlotChange } from "./block-changes.ts";
import { CodeCache } from "./code-cache.ts";
import {
  encodeHistoryRecord,
  readHistoryRecord,
  type HistoryRecord,
  type ChangedAccount,
} from "./history.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import { pruneHistory } from "./prune-history.ts";
import { readProgress, writeProgress, type Progress } from "./progress.ts";
import { decodeSlotValue, encodeSlotValue } from "./slot-value.ts";
import { StateCache, type CachedAccount } from "./state-cache.ts";
import { blockKey, codeKey } from "./state-keys.ts";
import type { StateReader } from "./state-reader.ts";
import { slotsOf } from "./snapshot/state-scan.ts";
import { StateTries, putOrDelete } from "./trie/state-tries.ts";
import { StateView } from "./state-view.ts";
import { storedCode } from "./stored-code.ts";
import { EMPTY_TRIE_ROOT } from "../chain/hash-constants.ts";
import { WordMap } from "./word-map.ts";
import { trialStateRoot, type TrialAccount } from "./trie/trial-state-root.ts";
import { WriteBehindStore } from "./write-behind-store.ts";

export type StateOptions = {
  /** Whether earlier blocks can be read and proved. Without it nothing of the past is written. */
  readonly keepsHistory: boolean;
  readonly cachedAccountsMax: number;
  readonly cachedSlotsMax: number;
  readonly cachedCodeBytesMax: number;
  readonly cachedNodesMax: number;
  /** A flush is forced when more keys than this wait for one. */
  readonly pendingKeysMax: number;
  /**
   * The tries are saved when this many accounts and slots changed since they last were. A proof of
   * an old block, and a start after a crash, apply up to that many changes to a saved trie.
   */
  readonly checkpointChangesMax: number;
};

export const DEFAULT_STATE_OPTIONS: StateOptions = {
  keepsHistory: true,
  cachedAccountsMax: 50_000,
  cachedSlotsMax: 100_000,
  cachedCodeBytesMax: 8_000_000,
  cachedNodesMax: 300_000,
  pendingKeysMax: 100_000,
  checkpointChangesMax: 16_384,
};

/** A point in the sequence of commits. */
export type StateMark = { readonly flushCount: number; readonly changeCount: number };

export class StateDatabase implements StateReader {
  readonly #options: StateOptions;
  readonly #store: WriteBehindStore;
  readonly #tries: StateTries;
  readonly #cache: StateCache;
  readonly #codes: CodeCache;
  #progress: Progress | undefined;
  #stateRoot = EMPTY_TRIE_ROOT;
  #changesSinceCheckpoint = 0;

  constructor(options: Partial<StateOptions>, store: KeyValueStore) {
    this.#options = { ...DEFAULT_STATE_OPTIONS, ...options };
    this.#store = new WriteBehindStore(store);
    this.#tries = new StateTries(this.#store, this.#options.cachedNodesMax);
    this.#cache = new StateCache(this.#options.cachedAccountsMax, this.#options.cachedSlotsMax);
    this.#codes = new CodeCache(this.#options.cachedCodeBytesMax);
    this.#progress = readProgress(this.#store);
    if (this.#progress !== undefined) this.#rollForward(this.#progress);
  }

  /** The last committed block; undefined before the first. */
  get latestBlock(): bigint | undefined {
    return this.#progress?.latest;
  }

  get stateRoot(): Uint8Array {
    return this.#stateRoot;
  }

  /** How many keys wait for `flush`. */
  get pendingKeyCount(): number {
    return this.#store.pendingCount;
  }

  /** The mark that `unwritten` takes to return only what is new to the caller. */
  get mark(): StateMark {
    return { flushCount: this.#store.flushCount, changeCount: this.#store.changeCount };
  }

  /**
   * What was committed after the mark and is not in the store; all that is not in the store if
   * there is no mark or the store was written since. For a StateMirror in another thread.
   */
  unwritten(since: StateMark | undefined): Uint8Array<ArrayBuffer> {
    const isSame = since?.flushCount === this.#store.flushCount;
    return this.#store.pendingSince(isSame ? since.changeCount : 0);
  }

  account(address: bigint): Account | undefined {
    return this.#cachedAccount(address).account;
  }

  storage(address: bigint, slot: bigint): bigint {
    const entry = this.#cachedAccount(address);
    if (entry.account === undefined || entry.account.storageRoot === EMPTY_STORAGE_ROOT) return 0n;
    const known = this.#cache.slot(entry, slot);
    if (known !== undefined) return known;
    const stored = this.#store.slot(address, slot);
    const value = stored === undefined ? 0n : decodeSlotValue(stored);
    this.#cache.setSlot(entry, slot, value);
    return value;
  }

  code(hash: bigint): AccountCode {
    return storedCode(hash, this.#codes, this.#store);
  }

  internCode(bytes: Uint8Array): AccountCode {
    return this.#codes.intern(bytes);
  }

  /** Makes the changes of the next block the latest state and returns the new state root. */
  commit(block: bigint, changes: BlockChanges): Uint8Array {
    const progress = this.#progress;
    invariant(
      progress === undefined || block === progress.latest + 1n,
      "blocks are committed in order",
    );
    // There is no state before the first block.
    const keepsHistory = this.#options.keepsHistory && progress !== undefined;
    const changed: ChangedAccount[] = [];
    for (const change of this.#withClearedSlots(changes.accounts)) {
      changed.push(this.#commitAccount(block, change, keepsHistory));
    }
    this.#stateRoot = this.#tries.accounts.rootHash();
    for (const { slots } of changed) this.#changesSinceCheckpoint += 1 + slots.length;
    const isCheckpoint =
      progress === undefined || this.#changesSinceCheckpoint >= this.#options.checkpointChangesMax;
    if (isCheckpoint) {
      this.#tries.saveCheckpoint(block, keepsHistory);
      this.#changesSinceCheckpoint = 0;
    }
    const checkpoint = isCheckpoint ? block : progress.checkpoint;
    let oldestIndex = progress?.oldestIndex ?? block;
    if (isCheckpoint && !this.#options.keepsHistory) {
      // Only blocks after the checkpoint are needed, to bring the tries forward after a crash.
      for (; oldestIndex < block; oldestIndex++) this.#store.delete(blockKey(oldestIndex));
    }
    const record: HistoryRecord = { checkpoint, stateRoot: this.#stateRoot, changed };
    this.#store.put(blockKey(block), encodeHistoryRecord(record));
    this.#progress = {
      latest: block,
      checkpoint,
      oldest: this.#options.keepsHistory ? (progress?.oldest ?? block) : block,
      oldestIndex,
    };
    writeProgress(this.#store, this.#progress);
    if (this.#store.pendingCount > this.#options.pendingKeysMax) this.flush();
    return this.#stateRoot;
  }

  /** The state after a retained block; undefined if it is not retained or not yet there. */
  at(block: bigint): StateReader | undefined {
    if (!this.#isRetained(block)) return undefined;
    return new StateView(block, this.#store, this);
  }

  /** The root of a retained block. */
  stateRootAt(block: bigint): Uint8Array | undefined {
    return this.#isRetained(block) ? readHistoryRecord(this.#store, block).stateRoot : undefined;
  }

  /** Proofs of an account and of slots of it, in the state after a retained block. */
  prove(block: bigint, address: bigint, slots: readonly bigint[]): StateProof | undefined {
    const state = this.at(block);
    if (state === undefined) return undefined;
    if (block !== this.latestBlock) {
      return proveAccountAt(this.#store, state, block, address, slots);
    }
    const tries = { accounts: this.#tries.accounts, storage: this.#tries.readStorage(address) };
    return proveAccount(tries, state, address, slots);
  }

  /** The root that the state after a retained block would have with these accounts. */
  trialStateRoot(block: bigint, changed: readonly TrialAccount[]): Uint8Array {
    return trialStateRoot(this.#store, block, changed);
  }

  /** Prunes the states before a block, which itself stays readable. */
  prune(belowBlock: bigint): void {
    const progress = this.#progress;
    if (progress === undefined || !this.#options.keepsHistory) return;
    const target = belowBlock > progress.latest ? progress.latest : belowBlock;
    const maxPending = this.#options.pendingKeysMax;
    this.#progress = pruneHistory(this.#store, progress, target, maxPending);
  }

  /** Writes everything committed so far to the store, in one commit of the store. */
  flush(): void {
    this.#store.flush();
  }

  #isRetained(block: bigint): boolean {
    const progress = this.#progress;
    return progress !== undefined && block >= progress.oldest && block <= progress.latest;
  }

  #commitAccount(block: bigint, change: AccountChange, keepsHistory: boolean): ChangedAccount {
    const { address, before, after, slots } = change;
    let storageRoot = before?.storageRoot ?? EMPTY_STORAGE_ROOT;
    if (slots.length > 0) {
      const root = this.#commitSlots(block, address, slots, keepsHistory);
      storageRoot = readBigEndian(root, 0, 32);
    }
    let account: Account | undefined;
    let value: Uint8Array | undefined;
    if (after !== undefined) {
      const { nonce, balance, codeHash, code } = after;
      account = { nonce, balance, codeHash, storageRoot };
      value = encodeAccount(account);
      if (code !== undefined) this.#store.put(codeKey(code.hash), code.bytes);
    }
    const held = putOrDelete(this.#tries.accounts, addressHash(address), value);
    this.#store.putAccount(address, value, keepsHistory ? block : undefined, held);
    const entry = this.#cache.setAccount(address, account);
    for (const { slot, after: value } of slots) this.#cache.setSlot(entry, slot, value);
    return { address, slots: slots.length === 0 ? NO_SLOTS : slots.map(({ slot }) => slot) };
  }

  #commitSlots(
    block: bigint,
    address: bigint,
    slots: readonly SlotChange[],
    keepsHistory: boolean,
  ): Uint8Array {
    const trie = this.#tries.changeStorage(address);
    for (const { slot, after } of slots) {
      const value = after === 0n ? undefined : encodeSlotValue(after);
      const held = putOrDelete(trie, wordHash(slot), value);
      this.#store.putSlot(address, slot, value, keepsHistory ? block : undefined, held);
    }
    return trie.rootHash();
  }

  /** Where storage is cleared, lists every slot that is. */
  #withClearedSlots(accounts: readonly AccountChange[]): readonly AccountChange[] {
    if (!accounts.some(({ isStorageCleared }) => isStorageCleared)) return accounts;
    // The scan sees the store only. Nothing of this block is pending yet: it stays all or nothing.
    this.#store.flush();
    return accounts.map((change) => {
      if (!change.isStorageCleared) return change;
      const known = new WordMap<true>();
      for (const { slot } of change.slots) known.set(slot, true);
      const slots = [...change.slots];
      for (const { slot, value } of slotsOf(this.#store, change.address)) {
        if (known.get(slot) === undefined) slots.push({ slot, before: value, after: 0n });
      }
      return { ...change, slots };
    });
  }

  #cachedAccount(address: bigint): CachedAccount {
    const known = this.#cache.account(address);
    if (known !== undefined) return known;
    const stored = this.#store.account(address);
    return this.#cache.setAccount(address, stored === undefined ? stored : decodeAccount(stored));
  }

  /** Brings the tries from their last checkpoint to the latest block. */
  #rollForward(progress: Progress): void {
    for (let block = progress.checkpoint + 1n; block <= progress.latest; block++) {
      for (const { address, slots } of readHistoryRecord(this.#store, block).changed) {
        if (slots.length > 0) {
          const trie = this.#tries.changeStorage(address);
          for (const slot of slots) {
            putOrDelete(trie, wordHash(slot), this.#store.slot(address, slot));
          }
        }
        putOrDelete(this.#tries.accounts, addressHash(address), this.#store.account(address));
        this.#changesSinceCheckpoint += 1 + slots.length;
      }
    }
    this.#stateRoot = this.#tries.accounts.rootHash();
    const { stateRoot } = readHistoryRecord(this.#store, progress.latest);
    if (!equalBytes(stateRoot, this.#stateRoot)) {
      throw new CodedError("STATE_CORRUPT", { block: progress.latest });
    }
  }
}

const NO_SLOTS: readonly bigint[] = [];

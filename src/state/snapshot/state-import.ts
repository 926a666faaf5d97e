/**
 * Builds a state in an empty store from the entries of a peer's snapshot and verifies all of them:
 * codes are hashed, the slots of an account must have the root that the account names, and all
 * accounts together the certified root. A store in which `finish` did not succeed must be
 * discarded.
 */
import { readBigEndian } from "../../base/big-endian.ts";
import { equalBytes } from "../../base/bytes.ts";
import { unreachable } from "../../base/invariant.ts";
import { addressHash, wordHash } from "../../chain/word-hash.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT, encodeAccount, type Account } from "../account.ts";
import { encodeHistoryRecord } from "../history.ts";
import type { KeyValueStore } from "../key-value-store.ts";
import { writeProgress } from "../progress.ts";
import { encodeSlotValue } from "../slot-value.ts";
import { blockKey, codeKey } from "../state-keys.ts";
import type { SnapshotEntry } from "./state-snapshot.ts";
import { StateTries } from "../trie/state-tries.ts";
import { WriteBehindStore } from "../write-behind-store.ts";

export const IMPORT_FAULTS = [
  "SNAPSHOT_OUT_OF_ORDER",
  "SNAPSHOT_VALUE_ZERO",
  "SNAPSHOT_CODE_WRONG",
  "SNAPSHOT_CODE_MISSING",
  "SNAPSHOT_STORAGE_WRONG",
  "SNAPSHOT_STATE_WRONG",
] as const;
export type ImportFault = (typeof IMPORT_FAULTS)[number];

/** What is in memory at once: keys that wait to be written, nodes of the tries. */
const PENDING_KEYS_MAX = 10_000;
const NODES_MAX = 30_000;

type Current = {
  readonly address: bigint;
  readonly account: Account;
  isCodeMissing: boolean;
  lastSlot: bigint;
};

export class StateImport {
  readonly #store: WriteBehindStore;
  readonly #tries: StateTries;
  #current: Current | undefined;
  #entryCount = 0;

  constructor(store: KeyValueStore) {
    this.#store = new WriteBehindStore(store);
    this.#tries = new StateTries(this.#store, NODES_MAX);
  }

  get entryCount(): number {
    return this.#entryCount;
  }

  /** Takes the next entry. What is wrong with it, if anything; then the import is over. */
  add(entry: SnapshotEntry): ImportFault | undefined {
    const fault = this.#take(entry);
    if (fault !== undefined) return fault;
    this.#entryCount++;
    if (this.#store.pendingCount > PENDING_KEYS_MAX) {
      this.#tries.saveCheckpoint(0n, false);
      this.#store.flush();
    }
    return undefined;
  }

  /** After the last entry: the state is that after `block`, which has this root. Writes the rest. */
  finish(block: bigint, stateRoot: Uint8Array): ImportFault | undefined {
    const fault = this.#finishAccount();
    if (fault !== undefined) return fault;
    if (!equalBytes(this.#tries.accounts.rootHash(), stateRoot)) return "SNAPSHOT_STATE_WRONG";
    this.#tries.saveCheckpoint(block, false);
    const record = { checkpoint: block, stateRoot, changed: [] };
    this.#store.put(blockKey(block), encodeHistoryRecord(record));
    const progress = { latest: block, checkpoint: block, oldest: block, oldestIndex: block };
    writeProgress(this.#store, progress);
    this.#store.flush();
    return undefined;
  }

  #take(entry: SnapshotEntry): ImportFault | undefined {
    switch (entry.kind) {
      case "account":
        return this.#takeAccount(entry.address, entry.account);
      case "code":
        return this.#takeCode(entry.hash, entry.bytes);
      case "slot":
        return this.#takeSlot(entry.address, entry.slot, entry.value);
      default:
        return unreachable(entry);
    }
  }

  #takeAccount(address: bigint, account: Account): ImportFault | undefined {
    const fault = this.#finishAccount();
    if (fault !== undefined) return fault;
    const before = this.#current;
    if (before !== undefined && address <= before.address) return "SNAPSHOT_OUT_OF_ORDER";
    const isCodeMissing = account.codeHash !== EMPTY_CODE.hash;
    this.#current = { address, account, isCodeMissing, lastSlot: -1n };
    const value = encodeAccount(account);
    this.#tries.accounts.put(addressHash(address), value);
    this.#store.putAccount(address, value, undefined, undefined);
    return undefined;
  }

  #takeCode(hash: bigint, bytes: Uint8Array): ImportFault | undefined {
    const current = this.#current;
    if (current?.isCodeMissing !== true) return "SNAPSHOT_OUT_OF_ORDER";
    const isRight =
      hash === current.account.codeHash && readBigEndian(keccak256(bytes), 0, 32) === hash;
    if (!isRight) return "SNAPSHOT_CODE_WRONG";
    current.isCodeMissing = false;
    this.#store.put(codeKey(hash), bytes);
    return undefined;
  }

  #takeSlot(address: bigint, slot: bigint, value: bigint): ImportFault | undefined {
    const current = this.#current;
    if (address !== current?.address || slot <= current.lastSlot) return "SNAPSHOT_OUT_OF_ORDER";
    if (value === 0n) return "SNAPSHOT_VALUE_ZERO";
    current.lastSlot = slot;
    const encoded = encodeSlotValue(value);
    this.#tries.changeStorage(address).put(wordHash(slot), encoded);
    this.#store.putSlot(address, slot, encoded, undefined, undefined);
    return undefined;
  }

  #finishAccount(): ImportFault | undefined {
    if (this.#current === undefined) return undefined;
    const { address, account, isCodeMissing, lastSlot } = this.#current;
    if (isCodeMissing) return "SNAPSHOT_CODE_MISSING";
    const root =
      lastSlot < 0n
        ? EMPTY_STORAGE_ROOT
        : readBigEndian(this.#tries.changeStorage(address).rootHash(), 0, 32);
    return root === account.storageRoot ? undefined : "SNAPSHOT_STORAGE_WRONG";
  }
}

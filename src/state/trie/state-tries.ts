/** The account trie and the storage tries of the latest block, with their checkpoints. */
import { addressHash, wordHash } from "../../chain/word-hash.ts";
import { encodeKeyList, readHistoryRecord } from "../history.ts";
import { ACCOUNT_NODE_PREFIX, checkpointKey, nodeKey, storageNodePrefix } from "../state-keys.ts";
import { Trie, type NodeSink, type NodeSource } from "./trie.ts";
import { WordMap } from "../word-map.ts";
import type { WriteBehindStore } from "../write-behind-store.ts";

/** Nodes unused for this many checkpoints go first when there are too many in memory. */
const EVICT_AFTER_CHECKPOINTS = 2;

type StorageTrie = { readonly trie: Trie; isChanged: boolean };

export class StateTries {
  readonly #store: WriteBehindStore;
  readonly #nodesMax: number;
  readonly accounts: Trie;
  #storages = new WordMap<StorageTrie>();

  /** Of the nodes that are saved, about `nodesMax` are kept in memory. */
  constructor(store: WriteBehindStore, nodesMax: number) {
    this.#store = store;
    this.#nodesMax = nodesMax;
    this.accounts = new Trie(latestNodes(store, ACCOUNT_NODE_PREFIX));
  }

  /** The storage trie of an account, to be changed. */
  changeStorage(address: bigint): Trie {
    let entry = this.#storages.get(address);
    if (entry === undefined) {
      entry = { trie: this.#openStorage(address), isChanged: true };
      this.#storages.set(address, entry);
    }
    entry.isChanged = true;
    return entry.trie;
  }

  /** To be read: a trie that is opened for that is not kept. */
  readStorage(address: bigint): Trie {
    return this.#storages.get(address)?.trie ?? this.#openStorage(address);
  }

  /** Saves what changed since the last checkpoint, and forgets what has been idle if need be. */
  saveCheckpoint(block: bigint, keepsHistory: boolean): void {
    const keys: Uint8Array[] = [];
    this.accounts.save(this.#sink(ACCOUNT_NODE_PREFIX, block, keys, keepsHistory));
    const kept = new WordMap<StorageTrie>();
    for (const [address, entry] of this.#storages.entries()) {
      if (!entry.isChanged) continue;
      entry.trie.save(this.#sink(storageNodePrefix(address), block, keys, keepsHistory));
      entry.isChanged = false;
      kept.set(address, entry);
    }
    if (keepsHistory) this.#store.put(checkpointKey(block), encodeKeyList(keys));
    this.#evict(kept);
  }

  #evict(kept: WordMap<StorageTrie>): void {
    if (this.#loadedCount() <= this.#nodesMax) return;
    // First the storage tries that did not change in this period, then old nodes, then all nodes.
    this.#storages = kept;
    for (const periods of [EVICT_AFTER_CHECKPOINTS, 0]) {
      if (this.#loadedCount() <= this.#nodesMax) return;
      this.accounts.evict(periods);
      for (const { trie } of this.#storages.values()) trie.evict(periods);
    }
    if (this.#loadedCount() > this.#nodesMax) this.#storages = new WordMap();
  }

  #loadedCount(): number {
    let count = this.accounts.loadedCount;
    for (const { trie } of this.#storages.values()) count += trie.loadedCount;
    return count;
  }

  #openStorage(address: bigint): Trie {
    return new Trie(latestNodes(this.#store, storageNodePrefix(address)));
  }

  #sink(prefix: Uint8Array, block: bigint, keys: Uint8Array[], keepsHistory: boolean): NodeSink {
    const store = this.#store;
    const change = (path: Uint8Array, record: Uint8Array | undefined): void => {
      const key = nodeKey(prefix, path);
      if (!keepsHistory) {
        store.put(key, record);
        return;
      }
      store.put(key, record, block, store.get(key));
      keys.push(key);
    };
    return { put: change, delete: (path) => change(path, undefined) };
  }
}

/**
 * A leaf's value is the stored one, so a change is the stored value or its absence. So is what is
 * returned: what was stored before.
 */
export function putOrDelete(
  trie: Trie,
  key: Uint8Array,
  value: Uint8Array | undefined,
): Uint8Array | undefined {
  return value === undefined ? trie.delete(key) : trie.put(key, value);
}

/** The account trie after a retained block: its checkpoint's, and what changed since. */
export function accountTrieAt(store: WriteBehindStore, block: bigint): Trie {
  const { checkpoint } = readHistoryRecord(store, block);
  const trie = new Trie(nodesAt(store, ACCOUNT_NODE_PREFIX, checkpoint));
  const changed = new WordMap<true>();
  for (let number = checkpoint + 1n; number <= block; number++) {
    for (const { address } of readHistoryRecord(store, number).changed) changed.set(address, true);
  }
  for (const [address] of changed.entries()) {
    putOrDelete(trie, addressHash(address), store.accountAt(address, block));
  }
  return trie;
}

export function storageTrieAt(store: WriteBehindStore, block: bigint, address: bigint): Trie {
  const { checkpoint } = readHistoryRecord(store, block);
  const trie = new Trie(nodesAt(store, storageNodePrefix(address), checkpoint));
  const changed = new WordMap<true>();
  for (let number = checkpoint + 1n; number <= block; number++) {
    for (const account of readHistoryRecord(store, number).changed) {
      if (account.address !== address) continue;
      for (const slot of account.slots) changed.set(slot, true);
    }
  }
  for (const [slot] of changed.entries()) {
    putOrDelete(trie, wordHash(slot), store.slotAt(address, slot, block));
  }
  return trie;
}

/** The records as saved with a checkpoint that is retained. */
function nodesAt(store: WriteBehindStore, prefix: Uint8Array, checkpoint: bigint): NodeSource {
  return { load: (path) => store.getAt(nodeKey(prefix, path), checkpoint) };
}

function latestNodes(store: WriteBehindStore, prefix: Uint8Array): NodeSource {
  return { load: (path) => store.get(nodeKey(prefix, path)) };
}

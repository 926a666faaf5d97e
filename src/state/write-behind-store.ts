import { compareBytes } from "../base/bytes.ts";
import type { Change, Entry, KeyValueStore } from "./key-value-store.ts";
import { MemoryStore } from "./memory-store.ts";

/** Stands for a deletion: values in a store are never empty. */
const DELETED = new Uint8Array(0);

/**
 * Changes held in memory in front of a store, and read through. A commit costs the store much, so
 * the changes of several blocks go in one, and a key that changed in each is written once.
 */
export class WriteBehindStore {
  readonly #store: KeyValueStore;
  readonly #pending = new MemoryStore();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const pending = this.#pending.size === 0 ? undefined : this.#pending.get(key);
    if (pending === undefined) return this.#store.get(key);
    return pending.length === 0 ? undefined : pending;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#pending.put(key, value);
  }

  delete(key: Uint8Array): void {
    this.#pending.put(key, DELETED);
  }

  seek(from: Uint8Array): Entry | undefined {
    let next = from;
    for (;;) {
      const pending = this.#pending.seek(next);
      const stored = this.#store.seek(next);
      if (pending === undefined) return stored;
      const isStoredFirst = stored !== undefined && compareBytes(stored.key, pending.key) < 0;
      if (isStoredFirst) return stored;
      if (pending.value.length > 0) return pending;
      next = successor(pending.key);
    }
  }

  /** Writes everything pending in one commit. */
  flush(): void {
    if (this.#pending.size === 0) return;
    const changes: Change[] = [];
    for (const { key, value } of this.#pending.entries()) {
      changes.push({ key, value: value.length === 0 ? undefined : value });
    }
    this.#store.write(changes);
    this.#pending.clear();
  }
}

/** The first key after this one. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

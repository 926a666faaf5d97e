import { invariant } from "../base/invariant.ts";
import { proveAccountAt, type StateProof } from "./trie/account-proof.ts";
import { CodeCache } from "./code-cache.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import type { StateReader } from "./state-reader.ts";
import { StateView } from "./state-view.ts";
import { storedCode } from "./stored-code.ts";
import { trialStateRoot, type TrialAccount } from "./trie/trial-state-root.ts";
import { WriteBehindStore } from "./write-behind-store.ts";

/**
 * The state as another thread's StateDatabase has it: the same store, read only, and the unwritten
 * changes of that database, which it receives. The store may be ahead of the changes received last,
 * by blocks that are not read here yet: each left in the store what its key held before. It must
 * never be behind.
 */
export class StateMirror {
  readonly #store: WriteBehindStore;
  readonly #codes: CodeCache;

  constructor(store: Pick<KeyValueStore, "get" | "seek">, cachedCodeBytesMax: number) {
    this.#store = new WriteBehindStore({
      get: (key) => store.get(key),
      seek: (from) => store.seek(from),
      write: () => invariant(false, "a mirror does not write"),
    });
    this.#codes = new CodeCache(cachedCodeBytesMax);
  }

  /** `isWritten`: the changes received before are in the store by now. */
  absorb(unwritten: Uint8Array, isWritten: boolean): void {
    if (isWritten) this.#store.forget();
    this.#store.absorb(unwritten);
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#store.get(key);
  }

  /** The state after a block that the database retains. */
  at(block: bigint): StateReader {
    return new StateView(block, this.#store, {
      latestBlock: undefined,
      account: () => undefined,
      storage: () => 0n,
      code: (hash) => storedCode(hash, this.#codes, this.#store),
      internCode: (bytes) => this.#codes.intern(bytes),
    });
  }

  prove(block: bigint, address: bigint, slots: readonly bigint[]): StateProof {
    return proveAccountAt(this.#store, this.at(block), block, address, slots);
  }

  /** The root that the state after a retained block would have with these accounts. */
  trialStateRoot(block: bigint, changed: readonly TrialAccount[]): Uint8Array {
    return trialStateRoot(this.#store, block, changed);
  }
}

import { decodeAccount, type Account, type AccountCode } from "./account.ts";
import { decodeSlotValue } from "./slot-value.ts";
import type { StateReader } from "./state-reader.ts";
import type { WriteBehindStore } from "./write-behind-store.ts";

/** The latest state, which answers as long as the viewed block is the latest. */
export type LatestState = StateReader & { readonly latestBlock: bigint | undefined };

/** The state after one block. It stays what it is while later blocks are committed. */
export class StateView implements StateReader {
  readonly #block: bigint;
  readonly #store: WriteBehindStore;
  readonly #latest: LatestState;

  constructor(block: bigint, store: WriteBehindStore, latest: LatestState) {
    this.#block = block;
    this.#store = store;
    this.#latest = latest;
  }

  account(address: bigint): Account | undefined {
    if (this.#latest.latestBlock === this.#block) return this.#latest.account(address);
    const stored = this.#store.accountAt(address, this.#block);
    return stored === undefined ? undefined : decodeAccount(stored);
  }

  storage(address: bigint, slot: bigint): bigint {
    if (this.#latest.latestBlock === this.#block) return this.#latest.storage(address, slot);
    const stored = this.#store.slotAt(address, slot, this.#block);
    return stored === undefined ? 0n : decodeSlotValue(stored);
  }

  /** Code is kept for ever under its hash, so every block reads the same. */
  code(hash: bigint): AccountCode {
    return this.#latest.code(hash);
  }

  internCode(bytes: Uint8Array): AccountCode {
    return this.#latest.internCode(bytes);
  }
}

/** A state that changes from one simulated block to the next, on top of one that stays. */
import type { AccountOverride } from "../../api/call-request.ts";
import { EMPTY_CODE } from "../../state/account.ts";
import type { BlockChanges } from "../../state/block-changes.ts";
import type { StateReader } from "../../state/state-reader.ts";
import type { TrialAccount } from "../../state/trie/trial-state-root.ts";
import { WordMap } from "../../state/word-map.ts";
import { overrideState } from "./overridden-state.ts";

type Touched = { isWhole: boolean; readonly slots: WordMap<true> };

const NO_CODE = new Uint8Array(0);

export class SimulatedState {
  #reader: StateReader;
  readonly #touched = new WordMap<Touched>();

  constructor(base: StateReader) {
    this.#reader = base;
  }

  get reader(): StateReader {
    return this.#reader;
  }

  /** Accounts that are taken to be different from now on. */
  override(overrides: readonly AccountOverride[]): void {
    if (overrides.length === 0) return;
    this.#reader = overrideState(this.#reader, overrides);
    for (const { address, storage, slots } of overrides) {
      const touched = this.#touch(address);
      if (storage !== undefined) touched.isWhole = true;
      for (const { slot } of storage ?? slots ?? []) touched.slots.set(slot, true);
    }
  }

  /** What a block changed. */
  apply({ accounts }: BlockChanges): void {
    this.override(
      accounts.map(({ address, after, isStorageCleared, slots }) => {
        const values = slots.map(({ slot, after: value }) => ({ slot, value }));
        const { nonce = 0n, balance = 0n } = after ?? {};
        const code = after === undefined ? NO_CODE : after.code?.bytes;
        const isWhole = isStorageCleared || after === undefined;
        return {
          address,
          nonce,
          balance,
          code,
          ...(isWhole ? { storage: values } : { slots: values }),
        };
      }),
    );
  }

  /** Everything that may differ from the base, as it is now. */
  changed(): readonly TrialAccount[] {
    return Array.from(this.#touched.entries(), ([address, { isWhole, slots }]) => {
      const account = this.#reader.account(address);
      return {
        address,
        nonce: account?.nonce ?? 0n,
        balance: account?.balance ?? 0n,
        codeHash: account?.codeHash ?? EMPTY_CODE.hash,
        isStorageWhole: isWhole,
        slots: Array.from(slots.entries(), ([slot]) => ({
          slot,
          value: this.#reader.storage(address, slot),
        })),
      };
    });
  }

  #touch(address: bigint): Touched {
    const touched = this.#touched.get(address) ?? { isWhole: false, slots: new WordMap() };
    this.#touched.set(address, touched);
    return touched;
  }
}

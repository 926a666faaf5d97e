/** The accounts and slots that a transaction touches, as they were before it. */
import { recoverAuthority } from "../../chain/transaction-sender.ts";
import { authorizationListOf } from "../../chain/transaction.ts";
import type { Tracer } from "../../evm/tracer.ts";
import { WordMap } from "../../state/word-map.ts";
import { touchedByStep } from "../touched-by-step.ts";
import type { TraceSetting } from "./execution-trace.ts";

const ACCOUNT_BYTES = 150;
const SLOT_BYTES = 140;

export type TouchedAccount = {
  readonly exists: boolean;
  readonly balance: bigint;
  readonly nonce: bigint;
  readonly code: Uint8Array;
  readonly slots: WordMap<bigint>;
};

export class TouchedAccounts {
  readonly #options: { readonly hasCode: boolean; readonly hasStorage: boolean };
  readonly #setting: TraceSetting;
  readonly #touched = new WordMap<TouchedAccount>();

  constructor(
    options: { readonly hasCode: boolean; readonly hasStorage: boolean },
    setting: TraceSetting,
    chainId: bigint,
  ) {
    this.#options = options;
    this.#setting = setting;
    const { request, coinbase } = setting;
    const { transaction, sender } = request;
    // These change before the first step.
    this.#account(sender);
    this.#account(coinbase);
    if (transaction.to !== undefined) this.#account(transaction.to);
    for (const authorization of authorizationListOf(transaction)) {
      const authority = recoverAuthority(authorization, chainId);
      if (authority !== undefined) this.#account(authority);
    }
  }

  get hooks(): Tracer {
    return {
      // What is called or created is as it was: the frame has not begun.
      onEnter: ({ to }) => void this.#account(to),
      onStep: (step) => {
        const touched = touchedByStep(step);
        if (touched === undefined) return;
        if (touched.slot === undefined) this.#account(touched.address);
        else this.#slot(touched.address, touched.slot);
      },
    };
  }

  entries(): Iterable<readonly [address: bigint, account: TouchedAccount]> {
    return this.#touched.entries();
  }

  #slot(address: bigint, slot: bigint): void {
    if (!this.#options.hasStorage) return;
    const { slots } = this.#account(address);
    if (slots.get(slot) !== undefined) return;
    this.#setting.room.take(SLOT_BYTES);
    slots.set(slot, this.#setting.journal.storage(address, slot));
  }

  #account(address: bigint): TouchedAccount {
    const known = this.#touched.get(address);
    if (known !== undefined) return known;
    const { journal, room } = this.#setting;
    const { bytes } = journal.code(address);
    const touched = {
      exists: journal.exists(address),
      balance: journal.balance(address),
      nonce: journal.nonce(address),
      code: bytes,
      slots: new WordMap<bigint>(),
    };
    room.take(ACCOUNT_BYTES + (this.#options.hasCode ? 2 * bytes.length : 0));
    this.#touched.set(address, touched);
    return touched;
  }
}

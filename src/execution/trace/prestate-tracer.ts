/** The accounts and slots that a transaction touches, before it, and on request after it. */
import { bytesToHex, numberToHex, wordToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import { recoverAuthority } from "../../chain/transaction-sender.ts";
import type { PrestateTracerOptions } from "../../api/trace-options.ts";
import { authorizationListOf } from "../../chain/transaction.ts";
import type { FrameEntry, Step } from "../../evm/tracer.ts";
import { WordMap } from "../../state/word-map.ts";
import { touchedByStep } from "../touched-by-step.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";

const ACCOUNT_BYTES = 150;
const SLOT_BYTES = 140;

type Touched = {
  readonly balance: bigint;
  readonly nonce: bigint;
  readonly code: Uint8Array;
  readonly slots: WordMap<bigint>;
};

type Shown = Record<string, Json>;

export function createPrestateTracer(
  options: PrestateTracerOptions,
  setting: TraceSetting,
  chainId: bigint,
): ExecutionTrace {
  const tracer = new PrestateTracer(options, setting, chainId);
  return {
    hooks: {
      onEnter: (entry) => tracer.onEnter(entry),
      onStep: (step) => tracer.onStep(step),
    },
    result: () => tracer.result(),
  };
}

class PrestateTracer {
  readonly #options: PrestateTracerOptions;
  readonly #setting: TraceSetting;
  readonly #touched = new WordMap<Touched>();

  constructor(options: PrestateTracerOptions, setting: TraceSetting, chainId: bigint) {
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

  /** What is called or created is as it was: the frame has not begun. */
  onEnter({ to }: FrameEntry): void {
    this.#account(to);
  }

  onStep(step: Step): void {
    const touched = touchedByStep(step);
    if (touched === undefined) return;
    if (touched.slot === undefined) this.#account(touched.address);
    else this.#slot(touched.address, touched.slot);
  }

  result(): Json {
    return this.#options.isDiff ? this.#difference() : this.#before();
  }

  #before(): Json {
    const accounts: Shown = {};
    for (const [address, touched] of this.#touched.entries()) {
      if (isEmpty(touched) && !this.#options.hasEmpty) continue;
      accounts[addressToHex(address)] = this.#format(touched, touched.slots);
    }
    return accounts;
  }

  #difference(): Json {
    const pre: Shown = {};
    const post: Shown = {};
    for (const [address, touched] of this.#touched.entries()) {
      const { journal } = this.#setting;
      const isGone = !journal.exists(address);
      const changed = new WordMap<bigint>();
      for (const [slot, value] of touched.slots.entries()) {
        if (journal.storage(address, slot) !== value) changed.set(slot, value);
      }
      const after = this.#after(address, touched, changed);
      if (Object.keys(after).length === 0) continue;
      const name = addressToHex(address);
      if (!isEmpty(touched)) pre[name] = this.#format(touched, changed);
      if (!isGone) post[name] = after;
    }
    return { pre, post };
  }

  /** What is different, in its new form. */
  #after(address: bigint, touched: Touched, changed: WordMap<bigint>): Shown {
    const { journal } = this.#setting;
    const after: Shown = {};
    const balance = journal.balance(address);
    const nonce = journal.nonce(address);
    const { bytes } = journal.code(address);
    if (balance !== touched.balance) after["balance"] = numberToHex(balance);
    if (nonce !== touched.nonce) after["nonce"] = Number(nonce);
    if (this.#options.hasCode && bytesToHex(bytes) !== bytesToHex(touched.code)) {
      after["code"] = bytesToHex(bytes);
    }
    const storage: Shown = {};
    for (const [slot] of changed.entries()) {
      const value = journal.storage(address, slot);
      if (value !== 0n) storage[wordToHex(slot)] = wordToHex(value);
    }
    if (changed.size > 0) after["storage"] = storage;
    return after;
  }

  #format({ balance, nonce, code }: Touched, slots: WordMap<bigint>): Json {
    const storage: Shown = {};
    for (const [slot, value] of slots.entries()) {
      if (value !== 0n || !this.#options.isDiff) storage[wordToHex(slot)] = wordToHex(value);
    }
    const hasSlots = Object.keys(storage).length > 0;
    return {
      balance: numberToHex(balance),
      ...(nonce !== 0n && { nonce: Number(nonce) }),
      ...(code.length > 0 && this.#options.hasCode && { code: bytesToHex(code) }),
      ...(hasSlots && this.#options.hasStorage && { storage }),
    };
  }

  #slot(address: bigint, slot: bigint): void {
    if (!this.#options.hasStorage) return;
    const { slots } = this.#account(address);
    if (slots.get(slot) !== undefined) return;
    this.#setting.room.take(SLOT_BYTES);
    slots.set(slot, this.#setting.journal.storage(address, slot));
  }

  #account(address: bigint): Touched {
    const known = this.#touched.get(address);
    if (known !== undefined) return known;
    const { journal, room } = this.#setting;
    const { bytes } = journal.code(address);
    const touched = {
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

function isEmpty({ balance, nonce, code, slots }: Touched): boolean {
  if (balance !== 0n || nonce !== 0n || code.length > 0) return false;
  for (const value of slots.values()) if (value !== 0n) return false;
  return true;
}

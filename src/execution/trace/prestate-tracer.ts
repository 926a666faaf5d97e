/** The accounts and slots that a transaction touches, before it, and on request after it. */
import { bytesToHex, numberToHex, wordToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { PrestateTracerOptions } from "../../api/trace-options.ts";
import { WordMap } from "../../state/word-map.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";
import { type TouchedAccount, TouchedAccounts } from "./touched-accounts.ts";

type Shown = Record<string, Json>;

export function createPrestateTracer(
  options: PrestateTracerOptions,
  setting: TraceSetting,
  chainId: bigint,
): ExecutionTrace {
  const touched = new TouchedAccounts(options, setting, chainId);
  const tracer = new PrestateTracer(options, setting, touched);
  return { hooks: touched.hooks, result: () => tracer.result() };
}

class PrestateTracer {
  readonly #options: PrestateTracerOptions;
  readonly #setting: TraceSetting;
  readonly #touched: TouchedAccounts;

  constructor(options: PrestateTracerOptions, setting: TraceSetting, touched: TouchedAccounts) {
    this.#options = options;
    this.#setting = setting;
    this.#touched = touched;
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
  #after(address: bigint, touched: TouchedAccount, changed: WordMap<bigint>): Shown {
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

  #format({ balance, nonce, code }: TouchedAccount, slots: WordMap<bigint>): Json {
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
}

function isEmpty({ balance, nonce, code, slots }: TouchedAccount): boolean {
  if (balance !== 0n || nonce !== 0n || code.length > 0) return false;
  for (const value of slots.values()) if (value !== 0n) return false;
  return true;
}

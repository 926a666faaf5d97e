import type { Account } from "./account.ts";
import { WordMap } from "./word-map.ts";

/**
 * A map with two generations: an entry that is not read between two calls of `rotate` is dropped.
 */
export class GenerationalMap<Value> {
  #young = new WordMap<Value>();
  #old = new WordMap<Value>();

  get youngCount(): number {
    return this.#young.size;
  }

  get(key: bigint): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#young.set(key, old);
    return old;
  }

  set(key: bigint, value: Value): void {
    this.#young.set(key, value);
  }

  values(): Generator<Value> {
    return this.#young.values();
  }

  rotate(): void {
    this.#old = this.#young;
    this.#young = new WordMap();
  }
}

/** What is known of an account of the latest block, also that it does not exist. */
export type CachedAccount = {
  account: Account | undefined;
  /** Made when the first slot is read: most accounts have none. */
  slots: GenerationalMap<bigint> | undefined;
};

/** The hot part of the latest state: at most twice `accountsMax` accounts, likewise slots. */
export class StateCache {
  readonly #accountsMax: number;
  readonly #slotsMax: number;
  readonly #accounts = new GenerationalMap<CachedAccount>();
  #slotCount = 0;

  constructor(accountsMax: number, slotsMax: number) {
    this.#accountsMax = accountsMax;
    this.#slotsMax = slotsMax;
  }

  account(address: bigint): CachedAccount | undefined {
    const entry = this.#accounts.get(address);
    // Finding one in the old generation moves it to the young one, which must stay bounded.
    if (this.#accounts.youngCount > this.#accountsMax) this.#rotate();
    return entry;
  }

  setAccount(address: bigint, account: Account | undefined): CachedAccount {
    const known = this.#accounts.get(address);
    if (known !== undefined) {
      known.account = account;
      return known;
    }
    if (this.#accounts.youngCount >= this.#accountsMax) this.#rotate();
    const entry = { account, slots: undefined };
    this.#accounts.set(address, entry);
    return entry;
  }

  slot(entry: CachedAccount, slot: bigint): bigint | undefined {
    const { slots } = entry;
    if (slots === undefined) return undefined;
    const before = slots.youngCount;
    const value = slots.get(slot);
    this.#slotCount += slots.youngCount - before;
    if (this.#slotCount > this.#slotsMax) this.#rotate();
    return value;
  }

  setSlot(entry: CachedAccount, slot: bigint, value: bigint): void {
    if (this.#slotCount >= this.#slotsMax) this.#rotate();
    entry.slots ??= new GenerationalMap();
    entry.slots.set(slot, value);
    this.#slotCount++;
  }

  #rotate(): void {
    for (const entry of this.#accounts.values()) entry.slots?.rotate();
    this.#accounts.rotate();
    this.#slotCount = 0;
  }
}

import type { RecoveredTransaction } from "../chain/transaction-sender.ts";

/** The place of one sender's nonce. Replacing its transaction does not move the place. */
export type Slot = {
  readonly sender: bigint;
  readonly nonce: bigint;
  pooled: Pooled;
  isExecutable: boolean;
  /** Since when it is queued, while it is. */
  queuedMs: number;
};

export type Pooled = {
  readonly transaction: RecoveredTransaction;
  readonly source: string;
  readonly arrivedMs: number;
  /** The most that it can take from the sender's balance. */
  readonly cost: bigint;
};

/** How a sender's run changed, for the pool's accounting. Both are in the order of nonces. */
export type RunChange = { readonly promoted: readonly Slot[]; readonly demoted: readonly Slot[] };

const NO_SLOTS: readonly Slot[] = [];
const NO_CHANGE: RunChange = { promoted: NO_SLOTS, demoted: NO_SLOTS };

/**
 * The transactions of one account. Its run is what can be ordered now: nonces without a gap from
 * the account's own, as far as the balance pays for all of them together. What is behind the run
 * is queued.
 */
export class SenderQueue {
  #nonce: bigint;
  #balance: bigint;
  readonly #slots = new Map<bigint, Slot>();
  /** The first nonce behind the run, and what the run costs at most. */
  #runEnd: bigint;
  #runCost = 0n;
  bytes = 0;

  constructor(nonce: bigint, balance: bigint) {
    this.#nonce = nonce;
    this.#balance = balance;
    this.#runEnd = nonce;
  }

  get nonce(): bigint {
    return this.#nonce;
  }

  get balance(): bigint {
    return this.#balance;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Whether such a transaction would be part of the run at once. */
  extendsRun(nonce: bigint, cost: bigint): boolean {
    return nonce === this.#runEnd && this.#runCost + cost <= this.#balance;
  }

  slotOf(nonce: bigint): Slot | undefined {
    return this.#slots.get(nonce);
  }

  /** The nonce that the account's next transaction should have (SPEC E12). */
  pendingNonce(): bigint {
    let nonce = this.#runEnd;
    while (this.#slots.has(nonce)) nonce++;
    return nonce;
  }

  add(slot: Slot): RunChange {
    this.#slots.set(slot.nonce, slot);
    this.bytes += slot.pooled.transaction.encoded.length;
    return { promoted: this.#extendRun(), demoted: NO_SLOTS };
  }

  /** Another transaction in the same place; its cost may shorten or lengthen the run. */
  replace(slot: Slot, pooled: Pooled): RunChange {
    this.bytes += pooled.transaction.encoded.length - slot.pooled.transaction.encoded.length;
    if (slot.isExecutable) this.#runCost += pooled.cost - slot.pooled.cost;
    slot.pooled = pooled;
    const demoted = this.#shortenRun();
    return { promoted: demoted.length > 0 ? NO_SLOTS : this.#extendRun(), demoted };
  }

  /** Takes one out; what follows it in the run waits for its nonce from now on. */
  remove(slot: Slot): RunChange {
    if (!this.#slots.delete(slot.nonce)) return NO_CHANGE;
    this.bytes -= slot.pooled.transaction.encoded.length;
    if (!slot.isExecutable) return NO_CHANGE;
    const demoted = this.#cutRun(slot.nonce + 1n);
    this.#runEnd = slot.nonce;
    this.#runCost -= slot.pooled.cost;
    slot.isExecutable = false;
    return { promoted: NO_SLOTS, demoted };
  }

  /** The account after a block: what it used up is `passed`, in the order of nonces. */
  onState(nonce: bigint, balance: bigint): RunChange & { readonly passed: readonly Slot[] } {
    const passed = this.#pass(nonce);
    this.#nonce = nonce;
    this.#balance = balance;
    if (this.#runEnd < nonce) this.#runEnd = nonce;
    const demoted = this.#shortenRun();
    return { passed, demoted, promoted: this.#extendRun() };
  }

  /** In the order of nonces. */
  slots(): Slot[] {
    return [...this.#slots.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
  }

  #pass(nonce: bigint): readonly Slot[] {
    const passed: Slot[] = [];
    if (nonce - this.#nonce <= BigInt(this.#slots.size)) {
      for (let at = this.#nonce; at < nonce; at++) {
        const slot = this.#slots.get(at);
        if (slot !== undefined) passed.push(slot);
      }
    } else {
      passed.push(...this.slots().filter((slot) => slot.nonce < nonce));
    }
    for (const slot of passed) {
      this.#slots.delete(slot.nonce);
      this.bytes -= slot.pooled.transaction.encoded.length;
      if (slot.isExecutable) this.#runCost -= slot.pooled.cost;
      slot.isExecutable = false;
    }
    return passed;
  }

  #extendRun(): readonly Slot[] {
    let promoted: Slot[] | undefined;
    for (;;) {
      const slot = this.#slots.get(this.#runEnd);
      if (slot === undefined) break;
      const cost = this.#runCost + slot.pooled.cost;
      if (cost > this.#balance) break;
      this.#runCost = cost;
      this.#runEnd++;
      slot.isExecutable = true;
      promoted ??= [];
      promoted.push(slot);
    }
    return promoted ?? NO_SLOTS;
  }

  /** Takes from the run's end what the balance no longer pays for. */
  #shortenRun(): readonly Slot[] {
    let end = this.#runEnd;
    let cost = this.#runCost;
    while (cost > this.#balance && end > this.#nonce) {
      end--;
      cost -= this.#slots.get(end)?.pooled.cost ?? 0n;
    }
    return this.#cutRun(end);
  }

  #cutRun(end: bigint): readonly Slot[] {
    const demoted: Slot[] = [];
    for (let nonce = end; nonce < this.#runEnd; nonce++) {
      const slot = this.#slots.get(nonce);
      if (slot === undefined) continue;
      slot.isExecutable = false;
      this.#runCost -= slot.pooled.cost;
      demoted.push(slot);
    }
    if (end < this.#runEnd) this.#runEnd = end;
    return demoted;
  }
}

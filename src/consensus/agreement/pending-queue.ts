/**
 * Transactions that wait to be ordered, first in, first out (PROTOCOL §6.1). The order of arrival
 * is what makes censorship visible: a correct leader orders them as they came and overtakes none.
 */
import type { Hash, Transaction } from "../block.ts";

export type Pending = {
  readonly transaction: Transaction;
  readonly arrivedMs: number;
  /** The block on the current chain that carries it, if any. */
  proposedIn: Hash | undefined;
  /** When it was handed to the leader of the current view, or undefined. */
  forwardedMs: number | undefined;
  /** What the leader had ordered when it received this transaction. */
  orderedAtForward: Ordered;
};

/** Gas that the leader of the current view ordered, and the part that never waited here. */
export type Ordered = { readonly gas: number; readonly unknownGas: number };

const NOTHING_ORDERED: Ordered = { gas: 0, unknownGas: 0 };

export type BatchLimits = {
  readonly transactionsMax: number;
  readonly bytesMax: number;
  readonly gasMax: number;
};

export type Batch = {
  readonly transactions: readonly Transaction[];
  /** More transactions wait than one block can hold. */
  readonly isFull: boolean;
};

export class PendingQueue {
  readonly #max: number;
  readonly #byId = new Map<Hash, Pending>();
  /** Ids that became final a short while ago, so that late copies are not ordered again. */
  readonly #settled = new Set<Hash>();
  readonly #settledMax: number;
  /** Ids that no block carries and that were not sent to the leader, oldest first. */
  readonly #unforwarded = new Set<Hash>();
  /** Arrival time of the youngest transaction that this leader has proposed. */
  #proposedUpToMs = -Infinity;
  #ordered = NOTHING_ORDERED;

  constructor(max: number) {
    this.#max = max;
    this.#settledMax = 4 * max;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(transaction: Transaction, nowMs: number): "added" | "known" | "full" {
    if (this.#byId.has(transaction.id) || this.#settled.has(transaction.id)) return "known";
    if (this.#byId.size >= this.#max) return "full";
    this.#byId.set(transaction.id, {
      transaction,
      arrivedMs: nowMs,
      proposedIn: undefined,
      forwardedMs: undefined,
      orderedAtForward: NOTHING_ORDERED,
    });
    this.#unforwarded.add(transaction.id);
    return "added";
  }

  /** It waits no longer, and may come again: also one that was ordered too early to be executed. */
  withdraw(id: Hash): void {
    this.#forget(id);
    this.#settled.delete(id);
  }

  settle(ids: readonly Hash[]): void {
    for (const id of ids) {
      this.#forget(id);
      this.#settled.add(id);
    }
    for (const id of this.#settled) {
      if (this.#settled.size <= this.#settledMax) break;
      this.#settled.delete(id);
    }
  }

  /** The oldest transactions that no block of `chain` carries, within the limits of one block. */
  batch(limits: BatchLimits, chain: ReadonlySet<Hash>): Batch {
    const transactions: Transaction[] = [];
    let bytes = 0;
    let gas = 0;
    for (const pending of this.waiting(chain)) {
      const { transaction } = pending;
      bytes += transaction.bytes.length;
      gas += transaction.gas;
      const isTooMuch = bytes > limits.bytesMax || gas > limits.gasMax;
      if (isTooMuch || transactions.length === limits.transactionsMax) {
        return { transactions, isFull: true };
      }
      transactions.push(transaction);
    }
    return { transactions, isFull: false };
  }

  /** Oldest first. */
  *waiting(chain: ReadonlySet<Hash>): Generator<Pending, void> {
    for (const pending of this.#byId.values()) {
      if (pending.proposedIn === undefined || !chain.has(pending.proposedIn)) yield pending;
    }
  }

  markProposed(id: Hash, blockHash: Hash): Pending | undefined {
    const pending = this.#byId.get(id);
    if (pending === undefined) return undefined;
    pending.proposedIn = blockHash;
    this.#proposedUpToMs = Math.max(this.#proposedUpToMs, pending.arrivedMs);
    this.#unforwarded.delete(id);
    return pending;
  }

  /** Whether it became final a short while ago. */
  isSettled(id: Hash): boolean {
    return this.#settled.has(id);
  }

  get ordered(): Ordered {
    return this.#ordered;
  }

  noteOrdered(gas: number): void {
    this.#ordered = { ...this.#ordered, gas: this.#ordered.gas + gas };
  }

  noteUnknown(gas: number): void {
    this.#ordered = { ...this.#ordered, unknownGas: this.#ordered.unknownGas + gas };
  }

  /** The oldest transaction that the leader may not know, or undefined. */
  nextToForward(): Pending | undefined {
    for (const id of this.#unforwarded) return this.#byId.get(id);
    return undefined;
  }

  /** Whether the leader proposed what arrived here at least so much later. */
  isPassedOver({ arrivedMs }: Pending, byMs: number): boolean {
    return arrivedMs + byMs <= this.#proposedUpToMs;
  }

  markForwarded(pending: Pending, nowMs: number): void {
    pending.forwardedMs = nowMs;
    pending.orderedAtForward = this.#ordered;
    this.#unforwarded.delete(pending.transaction.id);
  }

  #forget(id: Hash): void {
    this.#byId.delete(id);
    this.#unforwarded.delete(id);
  }

  /** A new leader has received nothing from us yet, and blocks of the old leader may be gone. */
  forgetForwards(): void {
    this.#unforwarded.clear();
    this.#proposedUpToMs = -Infinity;
    this.#ordered = NOTHING_ORDERED;
    for (const pending of this.#byId.values()) {
      pending.forwardedMs = undefined;
      this.#unforwarded.add(pending.transaction.id);
    }
  }
}

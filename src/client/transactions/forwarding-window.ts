/**
 * Hands executable transactions to the replicas. These order what they are given as it comes, so a
 * caller that hands in thousands would be in front of everyone who comes after. Here only as many
 * are given to the replicas as they make final in a short time; the rest waits, and callers take
 * turns, and the accounts of one caller take turns. So a transaction waits for those in flight and
 * for one of each other caller, not for all that others handed in before.
 */
import type { Hash } from "../../consensus/block.ts";

export type ForwardableTransaction = {
  readonly id: Hash;
  readonly encoded: Uint8Array;
  /** Who handed it in. */
  readonly source: string;
  readonly sender: bigint;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
};

export type ForwardingWindowDependencies = {
  readonly forward: (id: Hash, encoded: Uint8Array) => void;
  readonly now?: () => number;
};

type InFlight = {
  readonly caller: Caller;
  readonly weight: number;
  readonly sentMs: number;
};

/** The transactions of one account that wait, by nonce. They are in the turn of one caller. */
type SenderQueue = { readonly caller: Caller; readonly waiting: ForwardableTransaction[] };

type Caller = {
  readonly source: string;
  /** Accounts with something to forward, the next one first. */
  readonly senders: Map<bigint, SenderQueue>;
  inFlightCount: number;
};

/** In which the replicas should make final what they were given. */
const TARGET_MS = 300;
/** Transfers weigh 1; what asks for more gas takes the replicas longer. */
const WEIGHT_GAS = 21_000;
const WINDOW_START = 1_024;
/** A tenth of a second of transfers, or one large transaction. */
const WINDOW_MIN = 256;
const WINDOW_MAX = 65_536;
/** What is not final after so long is held up by something else, and does not hold others up. */
const COUNTED_MS = 5_000;

export class ForwardingWindow {
  readonly #forward: ForwardingWindowDependencies["forward"];
  readonly #now: () => number;
  /** The oldest first. */
  readonly #inFlight = new Map<Hash, InFlight>();
  readonly #waiting = new Map<Hash, ForwardableTransaction>();
  readonly #senders = new Map<bigint, SenderQueue>();
  /** All that have something in flight or waiting. */
  readonly #callers = new Map<string, Caller>();
  /** Those with something to forward, the next one first. */
  readonly #turns = new Set<Caller>();
  /** Of those, the ones with nothing in flight. */
  readonly #newcomers = new Set<Caller>();
  #weightMax = WINDOW_START;
  #weight = 0;
  #cutMs = -Infinity;

  constructor({ forward, now = () => performance.now() }: ForwardingWindowDependencies) {
    this.#forward = forward;
    this.#now = now;
  }

  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Forwarded when its turn comes, which is at once unless much is in flight. */
  add(transaction: ForwardableTransaction): void {
    const { id, sender, source } = transaction;
    if (this.#inFlight.has(id) || this.#waiting.has(id)) return;
    const queue = this.#senders.get(sender) ?? this.#openQueue(sender, source);
    const { waiting } = queue;
    // By nonce: a replacement comes after those that follow it.
    let place = waiting.length;
    while (place > 0 && (waiting[place - 1]?.nonce ?? 0n) > transaction.nonce) place--;
    waiting.splice(place, 0, transaction);
    this.#waiting.set(id, transaction);
    this.forwardNext();
  }

  /** It is final: how long that took says how much the replicas can be given. */
  onFinal(id: Hash): void {
    const sent = this.#inFlight.get(id);
    if (sent === undefined) return;
    const nowMs = this.#now();
    const tookMs = nowMs - sent.sentMs;
    if (tookMs <= TARGET_MS) {
      // The less, the nearer the target is: what is given now is felt only later.
      const growth = this.#waiting.size === 0 ? 0 : sent.weight * (1 - tookMs / TARGET_MS);
      this.#weightMax = Math.min(WINDOW_MAX, this.#weightMax + growth);
    } else if (sent.sentMs > this.#cutMs) {
      // Once for all that were in flight: those behind it were sent before the cut, too.
      const share = Math.max(0.5, TARGET_MS / tookMs);
      this.#weightMax = Math.max(WINDOW_MIN, this.#weightMax * share);
      this.#cutMs = nowMs;
    }
    this.remove(id);
  }

  /** Replicas are not to be given it, or need not be any more. */
  remove(id: Hash): void {
    this.#forgetInFlight(id);
    const transaction = this.#waiting.get(id);
    if (transaction === undefined) return;
    this.#waiting.delete(id);
    const queue = this.#senders.get(transaction.sender);
    if (queue === undefined) return;
    queue.waiting.splice(queue.waiting.indexOf(transaction), 1);
    if (queue.waiting.length === 0) this.#closeQueue(transaction.sender, queue);
  }

  /** After something was taken out, and from time to time. */
  forwardNext(): void {
    this.#forgetOverdue();
    for (const caller of this.#turns) {
      if (this.#weight >= this.#weightMax) break;
      this.#forwardOneOf(caller);
    }
    // A caller with nothing in flight need not wait for what others have there.
    for (const caller of this.#newcomers) {
      if (this.#weight >= 2 * this.#weightMax) break;
      this.#forwardOneOf(caller);
    }
  }

  #forwardOneOf(caller: Caller): void {
    const next = caller.senders.entries().next().value;
    // Callers in turn have accounts, and those have transactions.
    const transaction = next?.[1].waiting.shift();
    if (next === undefined || transaction === undefined) return;
    const [sender, queue] = next;
    // To the end, which the loop over all callers reaches again.
    this.#turns.delete(caller);
    this.#newcomers.delete(caller);
    caller.senders.delete(sender);
    if (queue.waiting.length === 0) this.#senders.delete(sender);
    else caller.senders.set(sender, queue);
    if (caller.senders.size > 0) this.#turns.add(caller);
    const weight = weightOf(transaction);
    this.#waiting.delete(transaction.id);
    this.#inFlight.set(transaction.id, { caller, weight, sentMs: this.#now() });
    this.#weight += weight;
    caller.inFlightCount++;
    this.#forward(transaction.id, transaction.encoded);
  }

  #openQueue(sender: bigint, source: string): SenderQueue {
    const known = this.#callers.get(source);
    const caller: Caller = known ?? { source, senders: new Map(), inFlightCount: 0 };
    const queue = { caller, waiting: [] };
    this.#callers.set(source, caller);
    this.#senders.set(sender, queue);
    caller.senders.set(sender, queue);
    this.#turns.add(caller);
    if (caller.inFlightCount === 0) this.#newcomers.add(caller);
    return queue;
  }

  #closeQueue(sender: bigint, { caller }: SenderQueue): void {
    this.#senders.delete(sender);
    caller.senders.delete(sender);
    if (caller.senders.size > 0) return;
    this.#turns.delete(caller);
    this.#newcomers.delete(caller);
    if (caller.inFlightCount === 0) this.#callers.delete(caller.source);
  }

  #forgetOverdue(): void {
    const oldestMs = this.#now() - COUNTED_MS;
    for (const [id, { sentMs }] of this.#inFlight) {
      if (sentMs > oldestMs) return;
      this.#forgetInFlight(id);
    }
  }

  #forgetInFlight(id: Hash): void {
    const sent = this.#inFlight.get(id);
    if (sent === undefined) return;
    const { caller, weight } = sent;
    this.#inFlight.delete(id);
    this.#weight -= weight;
    caller.inFlightCount--;
    if (caller.inFlightCount > 0) return;
    if (caller.senders.size > 0) this.#newcomers.add(caller);
    else this.#callers.delete(caller.source);
  }
}

function weightOf({ gasLimit }: ForwardableTransaction): number {
  return Math.max(1, Math.min(WINDOW_MAX, Math.ceil(Number(gasLimit) / WEIGHT_GAS)));
}

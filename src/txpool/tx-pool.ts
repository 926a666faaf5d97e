/**
 * Transactions that were accepted and are not final yet (docs/adr/0009-transaction-pool.md). An
 * accepted transaction is acknowledged (SPEC E13): it leaves only when it is final, when the state
 * made it impossible, when it expired, when its own sender outbid it, or, while it is queued behind
 * a gap, when an executable one needs its room. An eviction is reported (`evicted`), so that the
 * status has a reason. Hashes are bytes in this folder.
 */
import { readBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import { maxCost, maxGasPrice } from "../chain/transaction.ts";
import type { TxPoolOptions } from "./pool-options.ts";
import type { PoolRefusal } from "./pool-refusal.ts";
import { chooseVictims } from "./pool-limits.ts";
import { checkReplacement } from "./price-rules.ts";
import { SenderQueue, type Pooled, type RunChange, type Slot } from "./sender-queue.ts";
import { SourceBooks } from "./source-books.ts";

/** The latest executed state. It is asked only about senders the pool holds nothing of. */
export type PoolState = {
  nonceOf(sender: bigint): bigint;
  balanceOf(sender: bigint): bigint;
};

export type Arrival = {
  /** The submitter; limits per source count by this name. */
  readonly source: string;
  /** Milliseconds on any clock that goes forward; expiry counts from it. */
  readonly nowMs: number;
  /** When it was accepted before, if it is read back from the journal: limits no longer apply. */
  readonly promisedMs?: number | undefined;
};

/** Transactions that became executable, and those that became queued. */
export type Moved = {
  readonly promoted: readonly RecoveredTransaction[];
  readonly demoted: readonly RecoveredTransaction[];
};

export type PoolAdded = Moved & {
  readonly replaced: RecoveredTransaction | undefined;
  /** Queued ones that were evicted. */
  readonly evicted: readonly RecoveredTransaction[];
};

export type AccountState = {
  readonly address: bigint;
  readonly nonce: bigint;
  readonly balance: bigint;
};

export type PoolBlock = {
  /** The accounts that the block changed, as they are after it. */
  readonly accounts: Iterable<AccountState>;
  /** The hashes of the transactions that the block includes. */
  readonly included: Iterable<Uint8Array>;
};

export type BlockOutcome = Moved & {
  readonly included: readonly RecoveredTransaction[];
  /** Their nonce was used by another transaction: they can never be included. */
  readonly stale: readonly RecoveredTransaction[];
};

export type PoolStatus = {
  readonly executable: number;
  readonly queued: number;
  readonly bytes: number;
  readonly senders: number;
  /** Executable ones leave no room: the pool rejects every newcomer. */
  readonly isFull: boolean;
};

export type SenderTransactions = {
  readonly sender: bigint;
  readonly executable: readonly RecoveredTransaction[];
  readonly queued: readonly RecoveredTransaction[];
};

/** From this size on the pool counts as full: the next transaction may not fit. */
const FULL_SHARE = 0.95;

export class TxPool {
  readonly #options: TxPoolOptions;
  readonly #state: PoolState;
  readonly #senders = new Map<bigint, SenderQueue>();
  readonly #byHash = new Map<bigint, Slot>();
  readonly #books: SourceBooks;
  /** All slots, by arrival; arrival times never go down along it. */
  readonly #arrivals = new Set<Slot>();
  /** By when they became executable: along it every sender's nonces are in order, without gap. */
  readonly #executable = new Set<Slot>();
  #latestMs = 0;
  #latestArrivalMs = 0;

  constructor(options: TxPoolOptions, state: PoolState) {
    this.#options = options;
    this.#books = new SourceBooks(options);
    this.#state = state;
  }

  /** Checks that need no state (chain id, intrinsic gas, ...) are done by the caller before. */
  add(transaction: RecoveredTransaction, arrival: Arrival): Result<PoolAdded, PoolRefusal> {
    const { sender } = transaction;
    const { nonce } = transaction.transaction;
    const hash = hashKey(transaction.hash);
    if (this.#byHash.has(hash)) return err({ code: "TX_ALREADY_KNOWN" });
    const queue = this.#senders.get(sender) ?? this.#createQueue(sender);
    const cost = maxCost(transaction.transaction);
    const held = queue.slotOf(nonce);
    const refusal =
      this.#checkAlone(transaction, queue, cost, arrival) ??
      (held === undefined ? undefined : this.#checkOutbid(held, transaction));
    if (refusal !== undefined) return err(refusal);
    const isExecutable = held?.isExecutable ?? queue.extendsRun(nonce, cost);
    const newcomer = {
      source: arrival.source,
      size: transaction.encoded.length,
      isExecutable,
      held,
    };
    const victims =
      arrival.promisedMs === undefined
        ? chooseVictims(this.#options, this.#books, queue, newcomer)
        : ok([]);
    if (!victims.ok) return victims;

    const evicted = victims.value.map(transactionOf);
    for (const slot of victims.value) this.#remove(slot);
    this.#latestMs = Math.max(this.#latestMs, arrival.nowMs);
    // Read back from a journal or not, times along the arrivals must not go down.
    this.#latestArrivalMs = Math.max(this.#latestArrivalMs, arrival.promisedMs ?? this.#latestMs);
    const arrivedMs = this.#latestArrivalMs;
    const pooled = { transaction, source: arrival.source, arrivedMs, cost };
    this.#senders.set(sender, queue);
    if (held !== undefined) return ok({ ...this.#replace(queue, held, pooled, hash), evicted });
    const slot: Slot = { sender, nonce, pooled, isExecutable: false, queuedMs: 0 };
    this.#enter(slot, hash);
    return ok({ ...this.#apply(queue.add(slot)), replaced: undefined, evicted });
  }

  /** Follows the chain: the block was executed, and these accounts are as it left them. */
  onBlock(block: PoolBlock): BlockOutcome {
    const includedSlots = new Set<Slot>();
    for (const hash of block.included) {
      const slot = this.#byHash.get(hashKey(hash));
      if (slot !== undefined) includedSlots.add(slot);
    }
    const included: RecoveredTransaction[] = [];
    const stale: RecoveredTransaction[] = [];
    const promoted: RecoveredTransaction[] = [];
    const demoted: RecoveredTransaction[] = [];
    for (const { address, nonce, balance } of block.accounts) {
      const queue = this.#senders.get(address);
      if (queue === undefined) continue;
      const change = queue.onState(nonce, balance);
      for (const slot of change.passed) {
        this.#leave(slot);
        (includedSlots.has(slot) ? included : stale).push(slot.pooled.transaction);
      }
      const moved = this.#apply(change);
      promoted.push(...moved.promoted);
      demoted.push(...moved.demoted);
      this.#forgetIfEmpty(address, queue);
    }
    return { included, stale, promoted, demoted };
  }

  /** Takes out what was refused for good, by the permission rules for example. */
  remove(hash: Uint8Array): Moved | undefined {
    const slot = this.#byHash.get(hashKey(hash));
    return slot === undefined ? undefined : this.#remove(slot);
  }

  /** Takes out what has waited for its whole lifetime, or queued for that of queued ones. */
  expire(nowMs: number): Moved & { readonly expired: readonly RecoveredTransaction[] } {
    const { lifetimeMs, queuedLifetimeMs } = this.#options;
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    const expired: RecoveredTransaction[] = [];
    const demoted = new Set<RecoveredTransaction>();
    for (const slot of this.#books.queued) {
      if (nowMs - slot.queuedMs < queuedLifetimeMs) break;
      expired.push(slot.pooled.transaction);
      this.#remove(slot);
    }
    for (const slot of this.#arrivals) {
      if (nowMs - slot.pooled.arrivedMs < lifetimeMs) break;
      expired.push(slot.pooled.transaction);
      demoted.delete(slot.pooled.transaction);
      for (const transaction of this.#remove(slot).demoted) demoted.add(transaction);
    }
    return { expired, promoted: [], demoted: [...demoted] };
  }

  get(hash: Uint8Array): RecoveredTransaction | undefined {
    return this.#byHash.get(hashKey(hash))?.pooled.transaction;
  }

  isExecutable(hash: Uint8Array): boolean {
    return this.#byHash.get(hashKey(hash))?.isExecutable === true;
  }

  /** The nonce for the sender's next transaction: pooled ones without a gap count (SPEC E12). */
  pendingNonceOf(sender: bigint): bigint {
    return this.#senders.get(sender)?.pendingNonce() ?? this.#state.nonceOf(sender);
  }

  /**
   * What can be ordered now, first come first served. Any beginning of it holds gap-free runs: a
   * proposer that stops where its block is full has broken no sender's order. Do not change the
   * pool while iterating.
   */
  *executables(): Generator<RecoveredTransaction, void> {
    for (const slot of this.#executable) yield slot.pooled.transaction;
  }

  status(): PoolStatus {
    const { transactionsMax, bytesMax } = this.#options;
    const { bytes } = this.#books.total();
    const queued = this.#books.totalQueued();
    const executable = this.#executable.size;
    const isFull =
      executable >= FULL_SHARE * transactionsMax || bytes - queued.bytes >= FULL_SHARE * bytesMax;
    return { executable, queued: queued.count, bytes, senders: this.#senders.size, isFull };
  }

  /** Per sender, each list in the order of nonces. */
  *content(): Generator<SenderTransactions, void> {
    for (const sender of this.#senders.keys()) yield this.contentOf(sender);
  }

  contentOf(sender: bigint): SenderTransactions {
    const slots = this.#senders.get(sender)?.slots() ?? [];
    const transactionsOf = (isExecutable: boolean): RecoveredTransaction[] =>
      slots
        .filter((slot) => slot.isExecutable === isExecutable)
        .map((slot) => slot.pooled.transaction);
    return { sender, executable: transactionsOf(true), queued: transactionsOf(false) };
  }

  #createQueue(sender: bigint): SenderQueue {
    return new SenderQueue(this.#state.nonceOf(sender), this.#state.balanceOf(sender));
  }

  /** Whether the transaction makes sense on this state, whatever else is in the pool. */
  #checkAlone(
    { transaction, encoded }: RecoveredTransaction,
    queue: SenderQueue,
    cost: bigint,
    arrival: Arrival,
  ): PoolRefusal | undefined {
    const { transactionSizeMax, nonceWindow, fees } = this.#options;
    if (transaction.nonce < queue.nonce) return { code: "TX_NONCE_TOO_LOW", limit: queue.nonce };
    if (arrival.promisedMs !== undefined) return undefined;
    if (encoded.length > transactionSizeMax) {
      return { code: "TX_SIZE_TOO_LARGE", limit: BigInt(transactionSizeMax) };
    }
    const nonceMax = queue.nonce + BigInt(nonceWindow) - 1n;
    if (transaction.nonce > nonceMax) return { code: "TX_NONCE_GAP_TOO_LARGE", limit: nonceMax };
    if (fees !== undefined && maxGasPrice(transaction) < fees.priceMin) {
      return { code: "TX_PRICE_TOO_LOW", limit: fees.priceMin };
    }
    if (cost > queue.balance) return { code: "TX_INSUFFICIENT_BALANCE", limit: cost };
    return undefined;
  }

  #checkOutbid(held: Slot, offered: RecoveredTransaction): PoolRefusal | undefined {
    const { transaction } = held.pooled.transaction;
    return checkReplacement(this.#options.fees, transaction, offered.transaction);
  }

  /** The new one takes the place, and with it the turn, of the old one. */
  #replace(
    queue: SenderQueue,
    slot: Slot,
    pooled: Pooled,
    hash: bigint,
  ): Omit<PoolAdded, "evicted"> {
    const replaced = slot.pooled.transaction;
    this.#leaveBooks(slot);
    const change = queue.replace(slot, pooled);
    this.#enter(slot, hash);
    return { ...this.#apply(change), replaced };
  }

  #remove(slot: Slot): Moved {
    const queue = this.#senders.get(slot.sender);
    invariant(queue !== undefined, "every slot has a sender");
    const change = queue.remove(slot);
    this.#leave(slot);
    this.#forgetIfEmpty(slot.sender, queue);
    return this.#apply(change);
  }

  #apply(change: RunChange): Moved {
    for (const slot of change.demoted) {
      this.#executable.delete(slot);
      this.#books.queue(slot, this.#latestMs);
    }
    for (const slot of change.promoted) {
      this.#books.unqueue(slot);
      this.#executable.add(slot);
    }
    return {
      promoted: change.promoted.map(transactionOf),
      demoted: change.demoted.map(transactionOf),
    };
  }

  #enter(slot: Slot, hash: bigint): void {
    this.#byHash.set(hash, slot);
    this.#arrivals.add(slot);
    this.#books.enter(slot);
    if (!this.#executable.has(slot)) this.#books.queue(slot, this.#latestMs);
  }

  #leave(slot: Slot): void {
    this.#leaveBooks(slot);
    this.#executable.delete(slot);
  }

  #leaveBooks(slot: Slot): void {
    this.#byHash.delete(hashKey(slot.pooled.transaction.hash));
    this.#arrivals.delete(slot);
    this.#books.leave(slot);
  }

  /** A sender without transactions is not followed: its state is read again when it returns. */
  #forgetIfEmpty(sender: bigint, queue: SenderQueue): void {
    if (queue.size === 0) this.#senders.delete(sender);
  }
}

function transactionOf(slot: Slot): RecoveredTransaction {
  return slot.pooled.transaction;
}

function hashKey(hash: Uint8Array): bigint {
  return readBigEndian(hash, 0, 32);
}

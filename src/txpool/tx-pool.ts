/**
 * Transactions that were accepted and are not final yet (docs/adr/0009-transaction-pool.md). What
 * the pool took is a promise (SPEC E13): it leaves only when it is final, when the state made it
 * impossible, when it expired, or when its own sender outbid it. A full pool refuses newcomers; it
 * never makes room by breaking a promise.
 */
import { readBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import { maxGasPrice } from "../chain/transaction.ts";
import type { TxPoolOptions } from "./pool-options.ts";
import type { PoolRefusal } from "./pool-refusal.ts";
import { checkReplacement, maxCost } from "./price-rules.ts";
import { SenderQueue, type Pooled, type RunChange, type Slot } from "./sender-queue.ts";

/** The latest executed state. It is asked only about senders the pool holds nothing of. */
export type PoolState = {
  nonceOf(sender: bigint): bigint;
  balanceOf(sender: bigint): bigint;
};

export type Arrival = {
  /** Who handed it in; limits per source count by this name. */
  readonly source: string;
  /** Milliseconds on any clock that goes forward; expiry counts from it. */
  readonly nowMs: number;
  /** Accepted before, and read back from the journal: limits no longer apply. */
  readonly isPromised?: boolean;
};

/** Transactions that can be ordered now and could not before, and the other way round. */
export type Moved = {
  readonly promoted: readonly RecoveredTransaction[];
  readonly demoted: readonly RecoveredTransaction[];
};

export type Added = Moved & { readonly replaced: RecoveredTransaction | undefined };

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
};

export type SenderContent = {
  readonly sender: bigint;
  readonly executable: readonly RecoveredTransaction[];
  readonly queued: readonly RecoveredTransaction[];
};

type Usage = { count: number; bytes: number };

const UNUSED: Readonly<Usage> = { count: 0, bytes: 0 };

export class TxPool {
  readonly #options: TxPoolOptions;
  readonly #state: PoolState;
  readonly #senders = new Map<bigint, SenderQueue>();
  readonly #byHash = new Map<bigint, Slot>();
  readonly #sources = new Map<string, Usage>();
  /** All slots, by arrival; arrival times never go down along it. */
  readonly #arrivals = new Set<Slot>();
  /** By when they became executable: along it every sender's nonces are in order, without gap. */
  readonly #executable = new Set<Slot>();
  #bytes = 0;
  #latestMs = 0;

  constructor(options: TxPoolOptions, state: PoolState) {
    this.#options = options;
    this.#state = state;
  }

  /** Checks that need no state (chain id, intrinsic gas, ...) are the caller's, before this. */
  add(transaction: RecoveredTransaction, arrival: Arrival): Result<Added, PoolRefusal> {
    const { sender } = transaction;
    const { nonce } = transaction.transaction;
    const hash = hashKey(transaction.hash);
    if (this.#byHash.has(hash)) return err({ code: "TX_ALREADY_KNOWN" });
    const queue = this.#senders.get(sender) ?? this.#createQueue(sender);
    const cost = maxCost(transaction.transaction);
    const held = queue.slotOf(nonce);
    const refusal =
      this.#checkAlone(transaction, queue, cost, arrival) ??
      (held === undefined ? undefined : this.#checkOutbid(held, transaction)) ??
      (arrival.isPromised === true
        ? undefined
        : this.#checkLimits(transaction, queue, cost, held, arrival.source));
    if (refusal !== undefined) return err(refusal);

    // Read back from a journal or not, times along the arrivals must not go down.
    this.#latestMs = Math.max(this.#latestMs, arrival.nowMs);
    const pooled = { transaction, source: arrival.source, arrivedMs: this.#latestMs, cost };
    this.#senders.set(sender, queue);
    if (held !== undefined) return ok(this.#replace(queue, held, pooled, hash));
    const slot: Slot = { sender, nonce, pooled, isExecutable: false };
    this.#enter(slot, hash);
    return ok({ ...this.#apply(queue.add(slot)), replaced: undefined });
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

  /** Takes out what has waited for its whole lifetime. */
  expire(nowMs: number): Moved & { readonly expired: readonly RecoveredTransaction[] } {
    const expired: RecoveredTransaction[] = [];
    const demoted = new Set<RecoveredTransaction>();
    for (const slot of this.#arrivals) {
      if (nowMs - slot.pooled.arrivedMs < this.#options.lifetimeMs) break;
      expired.push(slot.pooled.transaction);
      demoted.delete(slot.pooled.transaction);
      for (const transaction of this.#remove(slot).demoted) demoted.add(transaction);
    }
    return { expired, promoted: [], demoted: [...demoted] };
  }

  get(hash: Uint8Array): RecoveredTransaction | undefined {
    return this.#byHash.get(hashKey(hash))?.pooled.transaction;
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
    const executable = this.#executable.size;
    const queued = this.#arrivals.size - executable;
    return { executable, queued, bytes: this.#bytes, senders: this.#senders.size };
  }

  /** Per sender, each list in the order of nonces. */
  *content(): Generator<SenderContent, void> {
    for (const sender of this.#senders.keys()) yield this.contentOf(sender);
  }

  contentOf(sender: bigint): SenderContent {
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
    if (arrival.isPromised === true) return undefined;
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

  #checkLimits(
    { transaction, encoded }: RecoveredTransaction,
    queue: SenderQueue,
    cost: bigint,
    held: Slot | undefined,
    source: string,
  ): PoolRefusal | undefined {
    const options = this.#options;
    const freedCount = held === undefined ? 0 : 1;
    const freedBytes = held?.pooled.transaction.encoded.length ?? 0;
    const isOver = (used: Readonly<Usage>, countMax: number, bytesMax: number): boolean =>
      used.count + 1 > countMax || used.bytes + encoded.length > bytesMax;

    const ofSender = { count: queue.size - freedCount, bytes: queue.bytes - freedBytes };
    if (isOver(ofSender, options.senderTransactionsMax, options.senderBytesMax)) {
      return { code: "TX_SENDER_LIMIT" };
    }
    const used = this.#sources.get(source) ?? UNUSED;
    const isOwn = held?.pooled.source === source;
    const ofSource = isOwn
      ? { count: used.count - freedCount, bytes: used.bytes - freedBytes }
      : used;
    if (isOver(ofSource, options.sourceTransactionsMax, options.sourceBytesMax)) {
      return { code: "TX_SOURCE_LIMIT" };
    }
    const queuedCount = this.#arrivals.size - this.#executable.size;
    const isQueued = held === undefined && !queue.extendsRun(transaction.nonce, cost);
    if (isQueued && queuedCount >= options.queuedMax) {
      return { code: "TX_QUEUE_FULL" };
    }
    const ofAll = { count: this.#arrivals.size - freedCount, bytes: this.#bytes - freedBytes };
    if (isOver(ofAll, options.transactionsMax, options.bytesMax)) {
      return { code: "TX_POOL_FULL" };
    }
    return undefined;
  }

  /** The new one takes the place, and with it the turn, of the old one. */
  #replace(queue: SenderQueue, slot: Slot, pooled: Pooled, hash: bigint): Added {
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
    for (const slot of change.demoted) this.#executable.delete(slot);
    for (const slot of change.promoted) this.#executable.add(slot);
    return {
      promoted: change.promoted.map(transactionOf),
      demoted: change.demoted.map(transactionOf),
    };
  }

  #enter(slot: Slot, hash: bigint): void {
    const { source, transaction } = slot.pooled;
    const size = transaction.encoded.length;
    this.#byHash.set(hash, slot);
    this.#arrivals.add(slot);
    this.#bytes += size;
    const usage = this.#sources.get(source);
    if (usage === undefined) {
      this.#sources.set(source, { count: 1, bytes: size });
    } else {
      usage.count++;
      usage.bytes += size;
    }
  }

  #leave(slot: Slot): void {
    this.#leaveBooks(slot);
    this.#executable.delete(slot);
  }

  #leaveBooks(slot: Slot): void {
    const { source, transaction } = slot.pooled;
    const size = transaction.encoded.length;
    this.#byHash.delete(hashKey(transaction.hash));
    this.#arrivals.delete(slot);
    this.#bytes -= size;
    const usage = this.#sources.get(source);
    if (usage === undefined) return;
    usage.count--;
    usage.bytes -= size;
    if (usage.count === 0) this.#sources.delete(source);
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

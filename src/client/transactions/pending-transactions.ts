/**
 * The client node's mempool: a transaction is checked against the rules of the chain
 * and the published state, written to the journal, and promised by its hash. While it is executable
 * it is sent to all replicas again and again until it is final, refused for good or expired; one
 * that is queued behind a gap of nonces stays here, since replicas could not order it.
 */
import { CodedError } from "../../base/coded-error.ts";
import { hexToBytes } from "../../base/hex.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { decodeTransaction } from "../../chain/transaction-decoder.ts";
import { recoverSender, type RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { Submitter } from "../../api/chain-reader.ts";
import type { SubmitRefusal, TransactionStatus } from "../../api/transaction-status.ts";
import type { Hash, ReplicaIndex, Transaction } from "../../consensus/block.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { isRetryable } from "../../execution/drop-reason.ts";
import type { TxPoolOptions } from "../../txpool/pool-options.ts";
import {
  TxPool,
  type Moved,
  type PoolStatus,
  type SenderTransactions,
} from "../../txpool/tx-pool.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import type { ClientTiming } from "../client-options.ts";
import type { ClientDisk } from "../client-disk.ts";
import type { NodeFailure } from "../node-failure.ts";
import type { ChainReader } from "../reads/chain-reader.ts";
import type { ReplicaLinks } from "../replica-links.ts";
import { ForwardingWindow } from "./forwarding-window.ts";
import { RejectedTransactions } from "./rejected-transactions.ts";
import { Retransmitter } from "./retransmitter.ts";
import { SubmissionCheck, type SubmissionCheckOptions } from "./submission-check.ts";
import type { AcceptedTransaction, OpenedJournal } from "./transaction-journal.ts";

export type RejectedTransaction = { readonly hash: Uint8Array; readonly code: string };

export type PendingTransactionsOptions = SubmissionCheckOptions & {
  readonly pool: TxPoolOptions;
  readonly timing: ClientTiming;
  /** f+1: so many replicas are believed when they refuse. */
  readonly weak: number;
};

/** Takes what becomes of transactions whose hash was given out. */
export type TransactionListener = {
  onAccepted(transaction: RecoveredTransaction): void;
  onRefused(refused: RejectedTransaction): void;
  /** A transaction became final so long after it was accepted. */
  onFinal(latencyMs: number): void;
};

export type PendingTransactionsDependencies = {
  readonly opened: OpenedJournal;
  readonly chain: Pick<ChainReader, "latestState" | "isFinal">;
  readonly links: Pick<ReplicaLinks, "submit" | "replicasUp">;
  readonly disk: Pick<ClientDisk, "isFull">;
  readonly failure: Pick<NodeFailure, "submitRefusal" | "failJournal">;
  readonly listener: TransactionListener;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

type Open = AcceptedTransaction & {
  readonly transaction: RecoveredTransaction;
  readonly source: string;
  /** Settled when it is on the disk. */
  readonly durable: Promise<void>;
  isDurable: boolean;
  readonly refusedBy: Set<ReplicaIndex>;
  lastCode: string | undefined;
};

/** The one refusal of replicas that outlasts blocks; after any other the node tries again. */
const LASTING_CODE = "TX_PERMISSION_DENIED";
/** The source of a transaction that is submitted within this process. */
const DEFAULT_SOURCE = "local";
/** The journal does not keep the source of a transaction. */
const JOURNAL_SOURCE = "journal";

export class PendingTransactions implements Submitter {
  readonly #check: SubmissionCheck;
  readonly #options: PendingTransactionsOptions;
  readonly #dependencies: PendingTransactionsDependencies;
  readonly #pool: TxPool;
  readonly #resender: Retransmitter;
  readonly #window: ForwardingWindow;
  readonly #refusals: RejectedTransactions;
  /** Everything that was promised and is not final, by hash, the oldest first. */
  readonly #open = new Map<Hash, Open>();

  constructor(options: PendingTransactionsOptions, dependencies: PendingTransactionsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { timing, pool } = options;
    const { chain, now, links } = dependencies;
    this.#check = new SubmissionCheck(options, { chain });
    this.#pool = new TxPool(pool, {
      nonceOf: (sender) => chain.latestState().account(sender)?.nonce ?? 0n,
      balanceOf: (sender) => chain.latestState().account(sender)?.balance ?? 0n,
    });
    this.#resender = new Retransmitter(timing, { links });
    this.#window = new ForwardingWindow({
      forward: (id, encoded) => this.#resender.add(id, encoded),
    });
    this.#refusals = new RejectedTransactions({ keptMs: timing.refusalKeptMs }, { now });
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Whether replicas have something to order; what is queued waits for its own sender. */
  get hasExecutable(): boolean {
    return this.#pool.status().executable > 0;
  }

  /** The promise holds over restarts: what the journal had open is sent again. */
  async restore(): Promise<void> {
    const { opened, chain } = this.#dependencies;
    const { journal, entries } = opened;
    if (entries.length === 0 && !journal.isAwaitingCompaction) return;
    const accepted = new Map<Hash, AcceptedTransaction>();
    for (const entry of entries) {
      if (entry.kind === "accepted") {
        const hash = keccak256(entry.encoded);
        accepted.set(bytesToHash(hash), entry);
        this.#refusals.delete(hash);
      } else {
        accepted.delete(bytesToHash(entry.hash));
        this.#refusals.add(entry);
      }
    }
    for (const [id, one] of accepted) {
      const hash = hexToBytes(id);
      if (!chain.isFinal(hash)) this.#restoreOne(one, hash);
    }
    await journal.compact(
      () => this.#open.values(),
      () => this.#refusals.all(),
    );
  }

  /**
   * The hash is given when the transaction is on the disk; one that is known gives it again. The
   * bytes are kept as they are: do not change them after. The mempool's limits count by `source`.
   */
  async submitRaw(
    encoded: Uint8Array,
    source = DEFAULT_SOURCE,
  ): Promise<Result<Uint8Array, SubmitRefusal>> {
    const { chain, disk, failure, listener, now } = this.#dependencies;
    const { submitRefusal } = failure;
    if (submitRefusal !== undefined) return err({ code: submitRefusal });
    const hash = keccak256(encoded);
    const id = bytesToHash(hash);
    const known = this.#open.get(id);
    if (known !== undefined) return this.#promise(known);
    if (chain.isFinal(hash)) return ok(hash);
    if (disk.isFull) return err({ code: "DISK_FULL" });
    const checked = this.#check.check(encoded, hash);
    if (!checked.ok) return checked;
    const acceptedMs = now();
    const added = this.#pool.add(checked.value, { source, nowMs: acceptedMs });
    if (!added.ok) return err(added.error);
    const { replaced, evicted, promoted, demoted } = added.value;
    if (replaced !== undefined) this.#close(replaced.hash, "TX_REPLACED");
    for (const one of evicted) this.#close(one.hash, "TX_EVICTED");
    this.#withhold(demoted);
    this.#refusals.delete(hash);
    const durable = this.#dependencies.opened.journal.accept({ acceptedMs, encoded });
    const accepted = { acceptedMs, encoded };
    const entry = this.#openEntry(accepted, checked.value, source, durable);
    const promised = await this.#promise(entry);
    if (promised.ok && this.#open.get(id) === entry) {
      listener.onAccepted(checked.value);
      // In this order: those whose gap it closed are executable only after it.
      this.#sendExecutable([checked.value, ...promoted]);
    }
    this.#compactIfFull();
    return promised;
  }

  /** The next state is published. */
  onPublished({ accounts, block, dropped }: ExecutedHeight): void {
    const { chain } = this.#dependencies;
    const included = block?.transactions.map(({ hash }) => hash) ?? [];
    const outcome = this.#pool.onBlock({ accounts, included });
    for (const hash of included) this.#finish(bytesToHash(hash));
    for (const { hash } of outcome.stale) {
      if (!chain.isFinal(hash)) this.#close(hash, "TX_NONCE_TOO_LOW");
    }
    this.#follow(outcome);
    for (const { transaction, reason } of dropped) {
      const { hash } = transaction;
      if (isRetryable(reason.code)) this.#resender.hurry(bytesToHash(hash));
      // Ordered twice: the first time counts.
      else if (!chain.isFinal(hash)) this.#giveUp(hash, reason.code);
    }
    this.#window.forwardNext();
  }

  onReplicaRefused(replica: ReplicaIndex, id: Hash, code: string): void {
    const entry = this.#open.get(id);
    if (entry === undefined) return;
    entry.lastCode = code;
    if (code !== LASTING_CODE) return;
    // A replica that is behind does not know of a grant yet: what is permitted here is sent again.
    if (this.#check.isPermitted(entry.transaction)) return;
    entry.refusedBy.add(replica);
    if (entry.refusedBy.size >= this.#options.weak) this.#giveUp(hexToBytes(id), code);
  }

  /** A replica is there again: it may have lost what it was sent. */
  onReplicaUp(replica: ReplicaIndex): void {
    this.#resender.sendAllTo(replica);
  }

  resend(nowMs: number): void {
    this.#window.forwardNext();
    this.#resender.sendDue(nowMs);
  }

  expire(): void {
    const { expired, demoted } = this.#pool.expire(this.#dependencies.now());
    for (const { hash } of expired) this.#close(hash, "TX_EXPIRED");
    this.#withhold(demoted);
  }

  get(hash: Uint8Array): RecoveredTransaction | undefined {
    return this.#pool.get(hash);
  }

  /** A transaction of a block, if its sender was recovered here when it was submitted. */
  known({ id }: Transaction): RecoveredTransaction | undefined {
    return this.#open.get(id)?.transaction;
  }

  pendingNonce(sender: bigint): bigint {
    return this.#pool.pendingNonceOf(sender);
  }

  poolStatus(): PoolStatus {
    return this.#pool.status();
  }

  content(): Iterable<SenderTransactions> {
    return this.#pool.content();
  }

  contentOf(sender: bigint): SenderTransactions {
    return this.#pool.contentOf(sender);
  }

  /** Undefined for one that was never accepted here, or so long ago that it is forgotten. */
  statusOf(hash: Uint8Array): Exclude<TransactionStatus, { readonly kind: "final" }> | undefined {
    const open = this.#open.get(bytesToHash(hash));
    if (open !== undefined) return { kind: "pending", code: open.lastCode };
    const closed = this.#refusals.get(hash);
    if (closed === undefined) return undefined;
    return { kind: "refused", code: closed.code, refusedMs: closed.closedMs };
  }

  #restoreOne(accepted: AcceptedTransaction, hash: Uint8Array): void {
    const decoded = decodeTransaction(accepted.encoded);
    const sender = decoded.ok ? recoverSender(decoded.value) : undefined;
    if (!decoded.ok || sender === undefined) return;
    const { encoded, acceptedMs } = accepted;
    const transaction = { transaction: decoded.value, encoded, hash, sender };
    const nowMs = this.#dependencies.now();
    const arrival = { source: JOURNAL_SOURCE, nowMs, promisedMs: acceptedMs };
    const added = this.#pool.add(transaction, arrival);
    if (added.ok) {
      const entry = this.#openEntry(accepted, transaction, JOURNAL_SOURCE, Promise.resolve());
      entry.isDurable = true;
      this.#follow(added.value);
    } else if (added.error.code !== "TX_ALREADY_KNOWN") {
      this.#refusals.add({ hash, code: added.error.code, closedMs: nowMs });
    }
  }

  #openEntry(
    accepted: AcceptedTransaction,
    transaction: RecoveredTransaction,
    source: string,
    durable: Promise<void>,
  ): Open {
    const entry = {
      ...accepted,
      transaction,
      source,
      durable,
      isDurable: false,
      refusedBy: new Set<ReplicaIndex>(),
      lastCode: undefined,
    };
    this.#open.set(bytesToHash(transaction.hash), entry);
    return entry;
  }

  async #promise(entry: Open): Promise<Result<Uint8Array, SubmitRefusal>> {
    const { hash } = entry.transaction;
    try {
      await entry.durable;
      entry.isDurable = true;
      return ok(hash);
    } catch (error) {
      // The hash was not given out: the transaction counts as never submitted.
      this.#forget(bytesToHash(hash));
      this.#withhold(this.#pool.remove(hash)?.demoted ?? []);
      if (!(error instanceof CodedError)) throw error;
      this.#dependencies.failure.failJournal(error);
      return err({ code: error.code });
    }
  }

  #compactIfFull(): void {
    const { journal } = this.#dependencies.opened;
    if (!journal.isFull) return;
    journal
      .compact(
        () => this.#open.values(),
        () => this.#refusals.all(),
      )
      .catch((error: unknown) => this.#dependencies.failure.failJournal(error));
  }

  #giveUp(hash: Uint8Array, code: string): void {
    const moved = this.#pool.remove(hash);
    this.#close(hash, code);
    if (moved !== undefined) this.#follow(moved);
  }

  #close(hash: Uint8Array, code: string): void {
    if (!this.#forget(bytesToHash(hash))) return;
    const { now, opened, listener } = this.#dependencies;
    const closed = { closedMs: now(), hash, code };
    this.#refusals.add(closed);
    opened.journal.close(closed);
    listener.onRefused({ hash, code });
  }

  #finish(id: Hash): void {
    const { now, listener } = this.#dependencies;
    const entry = this.#open.get(id);
    if (entry !== undefined) listener.onFinal(Math.max(0, now() - entry.acceptedMs));
    this.#window.onFinal(id);
    this.#forget(id);
  }

  #forget(id: Hash): boolean {
    this.#window.remove(id);
    this.#resender.remove(id);
    return this.#open.delete(id);
  }

  #follow({ promoted, demoted }: Moved): void {
    this.#withhold(demoted);
    this.#sendExecutable(promoted);
  }

  /** Only what is on the disk: the rest has its turn when it is. */
  #sendExecutable(transactions: readonly RecoveredTransaction[]): void {
    for (const { hash, encoded, sender, transaction } of transactions) {
      const id = bytesToHash(hash);
      const open = this.#open.get(id);
      if (open?.isDurable !== true || !this.#pool.isExecutable(hash)) continue;
      const { nonce, gasLimit } = transaction;
      this.#window.add({ id, encoded, source: open.source, sender, nonce, gasLimit });
    }
  }

  /** Replicas could not order them now: they are sent again when they are executable again. */
  #withhold(demoted: readonly RecoveredTransaction[]): void {
    for (const { hash } of demoted) {
      const id = bytesToHash(hash);
      this.#window.remove(id);
      this.#resender.remove(id);
    }
  }
}

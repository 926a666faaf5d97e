/**
 * What becomes of blocks that are proved final: they go to the block store, are executed in order,
 * and are published once f+1 replicas have signed the same result (SPEC E12) or final headers prove
 * it (result-proofs.ts).
 *
 * One order must hold for restarts: a height is durable in the block store, with its result, before
 * the state that it led to is written, and the state is written only up to a published height. So
 * all that is on the disk has been matched, and what is missing is executed again.
 *
 * A height is published only after the height mark (`shown`) that covers it is durable: replicas
 * that crashed with this node may report for a moment that less is final, and reads must not go
 * back in time.
 */
import { CodedError } from "../../base/coded-error.ts";
import type { Block } from "../../consensus/block.ts";
import type { FinalCert } from "../../consensus/certificate.ts";
import type { ExecVote } from "../../consensus/message.ts";
import { decodeBlockBytes, encodeBlockBytes, encodeFinalCert } from "../../wire/block-bytes.ts";
import type { ClientDisk } from "../client-disk.ts";
import type { ClientStores } from "../client-stores.ts";
import type { NodeFailure } from "../node-failure.ts";
import { encodeStoredBlockRecord } from "../reads/block-record.ts";
import type { PendingTransactions } from "../transactions/pending-transactions.ts";
import { encodeVotes } from "./block-certificates.ts";
import type { ProvedBlocks } from "./block-prover.ts";
import type { BlockStreams } from "./block-streams.ts";
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import type { PublishedHead } from "./published-head.ts";
import type { ResultProofs } from "./result-proofs.ts";

/** Takes every height once, in order, when reads may see it. */
export type PublishedHeights = {
  onPublished(executed: ExecutedHeight): void;
};

export type BlockPipelineDependencies = {
  readonly stores: Pick<ClientStores, "executor" | "blocks" | "shown">;
  readonly head: PublishedHead;
  readonly proofs: ResultProofs;
  readonly streams: Pick<BlockStreams, "release">;
  /** The sender of a transaction that was submitted here has been recovered before. */
  readonly pending: Pick<PendingTransactions, "known">;
  readonly publisher: PublishedHeights;
  readonly disk: ClientDisk;
  readonly failure: Pick<NodeFailure, "fail">;
};

type UnstoredBlock = { readonly block: Block; readonly certificate: FinalCert | undefined };

/** Executed and not yet matched, at most: the work that a wrong result can waste. */
const AHEAD_MAX = 32;
/** Decoded blocks that wait to be executed; further ones are read from the store. */
const DECODED_MAX = 16;

export class BlockPipeline {
  readonly #stateFlushMs: number;
  readonly #dependencies: BlockPipelineDependencies;
  /** By height, proved and not yet executed. */
  readonly #decoded = new Map<number, Block>();
  /** Proved and not yet in the block store, which a full disk delays. */
  #unstored: UnstoredBlock[] = [];
  /** Executed and not yet published, the lowest first. */
  readonly #executed: ExecutedHeight[] = [];
  #publishedMs = performance.now();
  #flushDueMs: number | undefined;
  #running: Promise<void> | undefined;
  #isRunning = false;
  #isWoken = false;
  #isStopped = false;

  constructor(options: { readonly stateFlushMs: number }, dependencies: BlockPipelineDependencies) {
    this.#stateFlushMs = options.stateFlushMs;
    this.#dependencies = dependencies;
    dependencies.stores.shown.handlers = {
      onDurable: () => this.wake(),
      onFailed: (error) => this.#fail(error),
    };
  }

  /** When the last height was published, or the pipeline made. */
  get publishedMs(): number {
    return this.#publishedMs;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** `provedHeight` is the last one in the block store: an earlier process has proved it. */
  start(provedHeight: number): void {
    this.#dependencies.stores.shown.raise(provedHeight);
    this.wake();
  }

  add({ blocks, certificate }: ProvedBlocks): void {
    for (const block of blocks) {
      const own = block.hash === certificate.blockHash ? certificate : undefined;
      this.#unstored.push({ block, certificate: own });
    }
    this.wake();
  }

  /** Ends the pipeline; what has been published is flushed to the disk. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    const { executor, blocks } = this.#dependencies.stores;
    if (this.#executed.length > 0 || executor.height === executor.writtenHeight) return;
    try {
      await blocks.flush();
      executor.flush();
    } catch (error) {
      // The blocks are executed again at the next start.
      if (!isDiskFull(error)) throw error;
    }
  }

  /** There may be something to do: a block, a vote, a durable height mark, or a tick. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** One step per turn of the event loop, so that requests are answered in between. */
  async #run(): Promise<void> {
    try {
      while (this.#isWoken && !this.#isStopped) {
        this.#isWoken = false;
        if (!(await this.#step())) continue;
        this.#isWoken = true;
        await nextTurn();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Whether there may be more to do. */
  async #step(): Promise<boolean> {
    const { disk, streams } = this.#dependencies;
    if (!disk.isWritable(performance.now())) return false;
    try {
      this.#store();
      const hasPublished = this.#publish();
      const hasFlushed = await this.#flushIfDue();
      const hasExecuted = this.#execute() && this.#publish();
      disk.noteWritten();
      streams.release();
      return hasPublished || hasFlushed || hasExecuted || this.#canExecute();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      disk.noteFull(performance.now());
      return false;
    }
  }

  #store(): void {
    const { blocks, shown } = this.#dependencies.stores;
    let stored = 0;
    try {
      for (const { block, certificate } of this.#unstored) {
        const bytes = { block: encodeBlockBytes(block) };
        const proof =
          certificate === undefined ? {} : { certificate: encodeFinalCert(certificate) };
        blocks.append(block.header.height, { ...bytes, ...proof });
        if (this.#decoded.size < DECODED_MAX) this.#decoded.set(block.header.height, block);
        stored++;
      }
    } finally {
      this.#unstored = this.#unstored.slice(stored);
    }
    // The write runs beside the execution, which as a rule takes longer.
    shown.raise(blocks.latestHeight ?? 0);
  }

  #canExecute(): boolean {
    const { stores, proofs, head } = this.#dependencies;
    const { executor, blocks } = stores;
    if (executor.height >= (blocks.latestHeight ?? 0)) return false;
    // What waits can be proved only there: neither the limit nor a due flush may be in the way.
    if (this.#executed.length > 0 && executor.height < proofs.namedHeight) return true;
    const isAhead = executor.height - head.height >= AHEAD_MAX;
    const isFlushing = this.#flushDueMs !== undefined && performance.now() >= this.#flushDueMs;
    return !isAhead && !isFlushing;
  }

  #execute(): boolean {
    if (!this.#canExecute()) return false;
    const { stores, pending } = this.#dependencies;
    const { executor } = stores;
    const height = executor.height + 1;
    const executed = executor.execute(this.#blockAt(height), (one) => pending.known(one));
    this.#decoded.delete(height);
    this.#executed.push(executed);
    this.#flushDueMs ??= performance.now() + this.#stateFlushMs;
    if (executor.isFlushUrgent) this.#flushDueMs = 0;
    return true;
  }

  /** Publishes every executed height that is matched and covered by the durable height mark. */
  #publish(): boolean {
    const { stores, proofs, head, publisher } = this.#dependencies;
    let hasPublished = false;
    for (;;) {
      const [next] = this.#executed;
      if (next === undefined || next.height > stores.shown.durableHeight) return hasPublished;
      const match = proofs.match(this.#executed);
      if (match === undefined) return hasPublished;
      this.#storeResult(next, match.votes);
      this.#executed.shift();
      proofs.onPublished(next, match);
      head.moveTo(next);
      this.#publishedMs = performance.now();
      hasPublished = true;
      publisher.onPublished(next);
    }
  }

  #storeResult({ height, result, block }: ExecutedHeight, votes: readonly ExecVote[]): void {
    const { blocks } = this.#dependencies.stores;
    const proof = votes.length === 0 ? {} : { votes: encodeVotes(votes) };
    if (block === undefined) {
      blocks.attach(height, { result, ...proof });
      return;
    }
    const senders = block.transactions.map(({ sender }) => sender);
    const record = encodeStoredBlockRecord(block.block, senders, block.receipts);
    const transactionHashes = block.transactions.map(({ hash }) => hash);
    blocks.attach(
      height,
      { result, ...proof, ...record },
      { blockHash: block.hash, transactionHashes },
    );
  }

  async #flushIfDue(): Promise<boolean> {
    if (this.#flushDueMs === undefined || performance.now() < this.#flushDueMs) return false;
    if (this.#executed.length > 0) return false;
    const { executor, blocks } = this.#dependencies.stores;
    await blocks.flush();
    executor.flush();
    this.#flushDueMs = undefined;
    return true;
  }

  #blockAt(height: number): Block {
    const decoded = this.#decoded.get(height);
    if (decoded !== undefined) return decoded;
    const bytes = this.#dependencies.stores.blocks.get(height, "block");
    const block = bytes === undefined ? undefined : decodeBlockBytes(Uint8Array.from(bytes));
    if (block?.ok !== true) throw new CodedError("BLOCK_STORE_DAMAGED", { height });
    return block.value;
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#dependencies.failure.fail(error);
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof CodedError && error.code === "DISK_FULL";
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

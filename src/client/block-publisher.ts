/** Makes a published height known: to the mempool, to requests that wait, and to subscribers. */
import type { ClientEvents } from "./client-events.ts";
import type { Emitter } from "./notifications.ts";
import type { ChainReader } from "./reads/chain-reader.ts";
import type { NodeReadiness } from "./node-readiness.ts";
import type { PublishedHeights } from "./sync/block-pipeline.ts";
import type { ExecutedHeight } from "../ledger/executed-height.ts";
import type { PublishedHead } from "./sync/published-head.ts";
import type { FinalityWaiters } from "./transactions/finality-waiters.ts";
import type { PendingTransactions } from "./transactions/pending-transactions.ts";
import type { PoolProgress } from "./transactions/pool-progress.ts";
import type { ClientTransactionLife } from "./transactions/transaction-life.ts";

export type BlockPublisherDependencies = {
  readonly head: PublishedHead;
  readonly reader: ChainReader;
  readonly pending: PendingTransactions;
  readonly poolProgress: PoolProgress;
  readonly waiters: FinalityWaiters;
  readonly events: Emitter<ClientEvents>;
  readonly readiness: NodeReadiness;
  readonly life: ClientTransactionLife;
};

export class BlockPublisher implements PublishedHeights {
  readonly #dependencies: BlockPublisherDependencies;

  constructor(dependencies: BlockPublisherDependencies) {
    this.#dependencies = dependencies;
  }

  /** The mempool comes first: who is woken after it finds the nonces of the new block. */
  onPublished(executed: ExecutedHeight): void {
    const { life, pending, waiters, reader, events, readiness } = this.#dependencies;
    life.published(executed);
    pending.onPublished(executed);
    this.notePoolProgress(performance.now());
    if (executed.block !== undefined) {
      for (const { hash } of executed.block.transactions) waiters.settle(hash);
      const block = reader.blockByNumber(executed.number);
      if (block !== undefined) events.emit("blockPublished", block);
    }
    readiness.check();
  }

  /** Called at every block and every tick. */
  notePoolProgress(nowMs: number): void {
    const { pending, poolProgress, head } = this.#dependencies;
    poolProgress.note(nowMs, head.height, pending.poolStatus().executable);
  }
}

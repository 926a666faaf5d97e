/** What every executed height moves on: the core, admission, clients, logs and metrics. */
import type { ClientSessions } from "../peers/client-sessions.ts";
import type { ReplicaObserver } from "../replica-options.ts";
import type { ReplicaCounters } from "../replica-report.ts";
import type { Admission } from "../transactions/admission.ts";
import type { ReplicaTransactionLife } from "../transactions/transaction-life.ts";
import type { ExecutionFeed } from "./execution-feed.ts";
import type { ExecutionReport } from "./execution-report.ts";

export type ExecutionProgressParts = {
  readonly observer: ReplicaObserver | undefined;
  readonly counters: ReplicaCounters;
  readonly life: ReplicaTransactionLife;
  readonly feed: ExecutionFeed;
  readonly admission: Admission;
  readonly sessions: ClientSessions;
};

export class ExecutionProgress {
  readonly #parts: ExecutionProgressParts;

  constructor(parts: ExecutionProgressParts) {
    this.#parts = parts;
  }

  onExecuted(executed: ExecutionReport, durationMs: number): void {
    const { observer, counters, life, feed, admission, sessions } = this.#parts;
    observer?.onExecuted(executed.included.length, durationMs);
    counters.executedBlocks++;
    counters.droppedTransactions += executed.drops.length;
    life.executed(executed);
    feed.onExecuted(executed);
    admission.onExecuted(executed);
    sessions.onProgress();
  }
}

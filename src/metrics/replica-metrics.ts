/** What a replica exports. */
import type { NodeMetrics } from "./node-metrics.ts";
import { SECONDS, TRANSACTION_COUNTS } from "./metric-buckets.ts";

export type ReplicaReading = {
  readonly replica: number;
  readonly mode: string;
  readonly epoch: number;
  readonly view: number;
  readonly leader: number;
  readonly finalHeight: number;
  readonly execHeight: number;
  readonly pendingCount: number;
  readonly isDiskFull: boolean;
  /** Executable transactions leave no room. */
  readonly isPoolFull: boolean;
  /** Transactions beyond the budget of the peer that sent them, ever. */
  readonly intakeDropped: number;
  readonly peersUp: readonly number[];
  readonly alarm: string | undefined;
};

export type ReplicaCounts = {
  readonly finalBlocks: number;
  readonly finalTransactions: number;
  readonly droppedTransactions: number;
  readonly viewChanges: number;
  readonly framesRefused: number;
  readonly executedBlocks: number;
  readonly stateTransfers: number;
};

/** Undefined until the node is open. */
export type ReplicaSource = () =>
  { readonly report: ReplicaReading; readonly counters: ReplicaCounts } | undefined;

/** Through these the replica reports durations. */
export type ReplicaTimes = {
  readonly onFinal: (transactionCount: number, commitMs: number) => void;
  readonly onExecuted: (transactionCount: number, durationMs: number) => void;
  readonly onLogSynced: (durationMs: number) => void;
};

const PREFIX = "quorate_replica";

export function addReplicaMetrics(metrics: NodeMetrics, source: ReplicaSource): ReplicaTimes {
  addGauges(metrics, source);
  addCounters(metrics, source);
  const commit = metrics.histogram(
    `${PREFIX}_commit_seconds`,
    "From when the leader made a block, by its clock, until it was final here.",
    SECONDS,
  );
  const size = metrics.histogram(
    `${PREFIX}_block_transactions`,
    "Transactions in a final block.",
    TRANSACTION_COUNTS,
  );
  const execution = metrics.histogram(
    `${PREFIX}_execution_seconds`,
    "Time to execute a block.",
    SECONDS,
  );
  const sync = metrics.histogram(
    `${PREFIX}_log_sync_seconds`,
    "Time until records of the consensus log were durable.",
    SECONDS,
  );
  return {
    onFinal: (transactionCount, commitMs) => {
      commit(commitMs / 1_000);
      size(transactionCount);
    },
    onExecuted: (_transactionCount, durationMs) => execution(durationMs / 1_000),
    onLogSynced: (durationMs) => sync(durationMs / 1_000),
  };
}

function addGauges(metrics: NodeMetrics, source: ReplicaSource): void {
  const gauges: readonly (readonly [string, string, (report: ReplicaReading) => number])[] = [
    ["active", "1 while the replica takes part.", ({ mode }) => Number(mode === "active")],
    ["epoch", "The epoch.", ({ epoch }) => epoch],
    ["view", "The view.", ({ view }) => view],
    ["leader", "The number of the leader of the view.", ({ leader }) => leader],
    ["is_leader", "1 while this replica leads.", (one) => Number(one.leader === one.replica)],
    ["final_height", "The last final height of the consensus chain.", (one) => one.finalHeight],
    ["executed_height", "The last height that was executed.", ({ execHeight }) => execHeight],
    [
      "execution_lag_blocks",
      "Final blocks that wait for execution.",
      ({ finalHeight, execHeight }) => finalHeight - execHeight,
    ],
    ["pool_transactions", "Transactions that wait.", ({ pendingCount }) => pendingCount],
    [
      "pool_full",
      "1 while executable transactions fill the pool.",
      (one) => Number(one.isPoolFull),
    ],
    ["peers_up", "Other replicas that are connected.", ({ peersUp }) => peersUp.length],
    ["disk_full", "1 while the disk takes nothing more.", (one) => Number(one.isDiskFull)],
  ];
  for (const [name, help, pick] of gauges) {
    metrics.gauge(`${PREFIX}_${name}`, help, [], () => {
      const reading = source();
      return reading === undefined ? [] : [{ value: pick(reading.report) }];
    });
  }
  const help = "1 with the code of a problem that only an operator can fix (docs/errors.md).";
  metrics.gauge(`${PREFIX}_alarm`, help, ["code"], () => {
    const code = source()?.report.alarm;
    return code === undefined ? [] : [{ value: 1, labels: { code } }];
  });
}

function addCounters(metrics: NodeMetrics, source: ReplicaSource): void {
  const counters: readonly (readonly [string, string, keyof ReplicaCounts])[] = [
    ["final_blocks", "Blocks that became final.", "finalBlocks"],
    ["final_transactions", "Transactions in final blocks.", "finalTransactions"],
    ["dropped_transactions", "Final transactions that execution left out.", "droppedTransactions"],
    ["view_changes", "Views that the replica left.", "viewChanges"],
    ["frames_refused", "Messages of peers that were refused.", "framesRefused"],
    ["executed_blocks", "Blocks that were executed.", "executedBlocks"],
    ["state_transfers", "States that were taken over from a peer.", "stateTransfers"],
  ];
  const droppedHelp = "Transactions dropped unchecked because their sender went beyond its budget.";
  metrics.counter(`${PREFIX}_intake_dropped_total`, droppedHelp, [], () => [
    { value: source()?.report.intakeDropped ?? 0 },
  ]);
  for (const [name, help, key] of counters) {
    metrics.counter(`${PREFIX}_${name}_total`, help, [], () => [
      { value: source()?.counters[key] ?? 0 },
    ]);
  }
}

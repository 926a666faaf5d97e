/** What a client node and its ethrpc export. */
import type { NodeMetrics } from "./node-metrics.ts";
import { SECONDS } from "./metric-buckets.ts";

export type ClientReading = {
  readonly isReady: boolean;
  readonly view: number | undefined;
  readonly leader: number | undefined;
  readonly finalHeight: number | bigint;
  readonly publishedHeight: number | bigint;
  readonly blockNumber: number | bigint;
  readonly lag: number | bigint;
  readonly replicasUp: number;
  readonly replicasNeeded: number;
  readonly pool: { readonly executable: number; readonly queued: number; readonly isFull: boolean };
  readonly stalledMs: number;
  readonly openTransactions: number;
  readonly isDiskFull: boolean;
};

export type ClientSource = () => ClientReading | undefined;

/** Through these the client node and ethrpc report durations. */
export type ClientTimes = {
  readonly onFinal: (latencyMs: number) => void;
  readonly onAnswered: (
    method: string | undefined,
    durationMs: number,
    code: number | undefined,
  ) => void;
  /** The main thread was held up. */
  readonly onStall: (ms: number) => void;
};

const STALL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const PREFIX = "quorate_client";
/**
 * Method names that callers invented get one common label, so that they cannot add metric series.
 */
const UNKNOWN_METHOD = "unknown";

export function addClientMetrics(metrics: NodeMetrics, source: ClientSource): ClientTimes {
  addGauges(metrics, source);
  const final = metrics.histogram(
    `${PREFIX}_commit_seconds`,
    "From the acceptance of a transaction by ethrpc until it was final and executed here.",
    SECONDS,
  );
  const request = metrics.histogramBy(
    "quorate_rpc_request_seconds",
    "Time to answer a request to ethrpc, by method.",
    { label: "method", buckets: SECONDS },
  );
  const failed = metrics.eventCounter(
    "quorate_rpc_errors_total",
    "Requests to ethrpc that were answered with an error, by method and code.",
    ["method", "code"],
  );
  const stall = metrics.histogram(
    `${PREFIX}_stall_seconds`,
    "Times of more than 50 ms in which the main thread was held up and answered nothing.",
    STALL_SECONDS,
  );
  return {
    onStall: (ms) => stall(ms / 1_000),
    onFinal: (latencyMs) => final(latencyMs / 1_000),
    onAnswered: (method = UNKNOWN_METHOD, durationMs, code) => {
      request(method, durationMs / 1_000);
      if (code !== undefined) failed({ method, code });
    },
  };
}

function addGauges(metrics: NodeMetrics, source: ClientSource): void {
  type Pick = (reading: ClientReading) => number | bigint | undefined;
  const gauges: readonly (readonly [string, string, Pick])[] = [
    ["ready", "1 while ethrpc can do its job.", ({ isReady }) => Number(isReady)],
    ["view", "The latest view that a replica reports.", ({ view }) => view],
    ["leader", "The number of the leader of that view.", ({ leader }) => leader],
    ["final_height", "The last final height that it knows.", ({ finalHeight }) => finalHeight],
    ["published_height", "The last height that reads see.", (one) => one.publishedHeight],
    ["block_number", "The number of the latest block.", ({ blockNumber }) => blockNumber],
    ["lag_blocks", "Final blocks that reads do not see yet.", ({ lag }) => lag],
    ["replicas_up", "Replicas that are connected.", ({ replicasUp }) => replicasUp],
    ["replicas_needed", "Replicas without which nothing moves.", (one) => one.replicasNeeded],
    ["open_transactions", "Acknowledged and not final yet.", (one) => one.openTransactions],
    [
      "pool_full",
      "1 while executable transactions fill the pool.",
      (one) => Number(one.pool.isFull),
    ],
    [
      "stalled_seconds",
      "How long executable transactions have waited while nothing became final.",
      ({ stalledMs }) => stalledMs / 1_000,
    ],
    ["disk_full", "1 while the disk takes nothing more.", (one) => Number(one.isDiskFull)],
  ];
  for (const [name, help, pick] of gauges) {
    metrics.gauge(`${PREFIX}_${name}`, help, [], () => {
      const reading = source();
      const value = reading === undefined ? undefined : pick(reading);
      return value === undefined ? [] : [{ value: Number(value) }];
    });
  }
  const help = "Transactions in the pool: executable, or queued behind a gap.";
  metrics.gauge(`${PREFIX}_pool_transactions`, help, ["state"], () => {
    const reading = source();
    if (reading === undefined) return [];
    const { executable, queued } = reading.pool;
    return [
      { value: executable, labels: { state: "executable" } },
      { value: queued, labels: { state: "queued" } },
    ];
  });
}

/** All metrics of all nodes in one registry, for tests of names and of alerts. */
import { addClientMetrics, type ClientTimes } from "../../src/metrics/client-metrics.ts";
import { NodeMetrics, type ShipperMetrics } from "../../src/metrics/node-metrics.ts";
import {
  addReplicaMetrics,
  type ReplicaCounts,
  type ReplicaReading,
  type ReplicaTimes,
} from "../../src/metrics/replica-metrics.ts";

export type MetricState = {
  report: ReplicaReading;
  counters: ReplicaCounts;
  shipper: ShipperMetrics;
};

export type EveryMetric = {
  readonly metrics: NodeMetrics;
  readonly names: readonly string[];
  readonly replica: ReplicaTimes;
  readonly client: ClientTimes;
  readonly state: MetricState;
};

export function createEveryMetric(node = "replica-0", blockchainId = "chain"): EveryMetric {
  const state: MetricState = {
    report: {
      ...{ replica: 0, mode: "active", epoch: 0, view: 0, leader: 0, finalHeight: 0 },
      ...{ execHeight: 0, pendingCount: 0, isDiskFull: false, peersUp: [1, 2, 3] },
      ...{ alarm: undefined, isPoolFull: false, intakeDropped: 0 },
    },
    counters: {
      ...{ finalBlocks: 0, finalTransactions: 0, droppedTransactions: 0, viewChanges: 0 },
      ...{ framesRefused: 0, executedBlocks: 0, stateTransfers: 0 },
    },
    shipper: {
      ...{ spoolSize: 0, overflowLines: 0 },
      endpoints: [
        {
          ...{ name: "endpoint_1", isUp: true, sentLines: 0, droppedLines: 0 },
          ...{ rejectedLines: 0, waitingLines: 0, failedRequests: 0 },
        },
      ],
    },
  };
  const metrics = new NodeMetrics(
    { blockchainId, node, version: "1.2.3", dataPath: "." },
    { shipper: () => state.shipper, droppedOutputLines: () => 0 },
  );
  const replica = addReplicaMetrics(metrics, () => state);
  const client = addClientMetrics(metrics, () => undefined);
  return { metrics, names: metrics.names(), replica, client, state };
}

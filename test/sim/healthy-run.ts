/** L6: a long run without any fault has no view change, and its memory does not grow. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Cluster } from "./cluster.ts";
import { drawPlan, type Plan } from "./plan.ts";

export type HealthyResult = {
  readonly blocks: number;
  readonly viewChanges: number;
  readonly fast: number;
  readonly slow: number;
  /** Heap in use after collection, at tenths of the run. */
  readonly heapMegabytes: readonly number[];
};

const RETENTION = 500;

export function runHealthy(
  blockCount: number,
  onProgress: (text: string) => void = () => undefined,
): HealthyResult {
  const cluster = new Cluster({ plan: healthyPlan(), traceLines: 0, retention: RETENTION });
  const collect = garbageCollector();
  const heapMegabytes: number[] = [];
  cluster.start();
  let nextMs = 0;
  while (cluster.finalBlocks() < blockCount) {
    nextMs += 50;
    cluster.runUntil(nextMs);
    cluster.checker.forgetOld();
    const tenth = Math.floor((10 * cluster.finalBlocks()) / blockCount);
    if (tenth <= heapMegabytes.length) continue;
    collect();
    heapMegabytes.push(process.memoryUsage().heapUsed / 2 ** 20);
    onProgress(`${cluster.finalBlocks()} blocks, heap ${heapMegabytes.at(-1)!.toFixed(1)} MB`);
  }
  const { coverage } = cluster;
  return {
    blocks: cluster.finalBlocks(),
    viewChanges: coverage.get("notice: VIEW_ENTERED") + coverage.totalOf("complaint: "),
    fast: coverage.get("decision: fast"),
    slow: coverage.get("decision: slow"),
    heapMegabytes,
  };
}

/** Four replicas in one rack, clients that never rest. */
function healthyPlan(): Plan {
  return {
    ...drawPlan(0),
    profile: "calm",
    replicaCount: 4,
    window: 4,
    gatherPerBlock: 0,
    execLagMax: 64,
    quality: {
      delayUs: 200,
      jitterUs: 200,
      loss: 0,
      duplication: 0,
      reordering: 0,
      corruption: 0,
    },
    qualitySpread: 1,
    syncUs: [300, 600],
    executeUs: [50, 150],
    compactEvery: 1_000,
    wallSkewMaxMs: 20,
    clientCount: 4,
    thinkUs: [0, 500],
    fanOut: 4,
    byzantine: [],
    twin: undefined,
    faults: [],
  };
}

function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

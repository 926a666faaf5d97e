/** What must happen, and by when, in virtual time (L1-L5, L7). */
import { DEFAULT_TIMING } from "../../../src/consensus/parameters.ts";
import type { Quorum } from "../../../src/consensus/quorum.ts";
import type { Coverage } from "../coverage.ts";
import type { EventQueue } from "../event-queue.ts";
import type { FinalPoint } from "./finality-ledger.ts";
import type { Fault, Plan } from "../plan.ts";
import type { SafetyChecker } from "./safety-checker.ts";
import type { SimNode } from "../sim-node.ts";
import type { ToyClient } from "../toy-client.ts";
import { Violation } from "./violation.ts";

/**
 * L1: how long a transaction may wait after healing, also with a Byzantine replica: below T of
 * PROTOCOL §13.
 */
const ACKNOWLEDGE_MAX_MS = 5_000;
/** L5: how long a replica may take to catch up or rejoin after healing. */
const CATCH_UP_MAX_MS = 12_000;
/** L2: from the failure of one leader to the next block. */
const LEADER_FAULT_MAX_MS = 1_000;
/** L4: from the return of a quorum to the next block. */
const RESUME_MAX_MS = 1_500;
/** L3: without a quorum a view may be left once or twice, however long it lasts. */
const VIEW_GROWTH_MAX = 2;
const SETTLE_STEP_MS = 100;

/** What is watched: a cluster, as far as it matters here. */
export type Watched = {
  readonly plan: Plan;
  readonly queue: EventQueue;
  readonly coverage: Coverage;
  readonly checker: SafetyChecker;
  readonly nodes: readonly SimNode[];
  readonly clients: readonly ToyClient[];
  currentLeader(): number;
  runUntil(ms: number): void;
  finalBlocks(): number;
  hasEnoughBlocks(): boolean;
};

type LeaderFault = {
  readonly kind: "link down" | "silent";
  readonly atMs: number;
  readonly epoch: number;
  readonly view: number;
};

export class LivenessChecker {
  readonly #cluster: Watched;
  readonly #quorum: Quorum;
  #leaderFault: LeaderFault | undefined;
  #viewsAtOutage = new Map<number, { readonly epoch: number; readonly view: number }>();
  #resumedAtMs: number | undefined;

  constructor(cluster: Watched, quorum: Quorum) {
    this.#cluster = cluster;
    this.#quorum = quorum;
  }

  onFinal(point: FinalPoint): void {
    const { coverage, queue } = this.#cluster;
    coverage.count(`decision: ${point.path}`);
    if (this.#resumedAtMs !== undefined) {
      const tookMs = queue.nowMs() - this.#resumedAtMs;
      this.#resumedAtMs = undefined;
      coverage.sample("resumed after an outage, ms", tookMs);
      if (this.#isClean() && tookMs > RESUME_MAX_MS) {
        throw new Violation("L4", `the first block after the outage took ${tookMs} ms`);
      }
    }
    const fault = this.#leaderFault;
    if (fault === undefined) return;
    if (point.epoch > fault.epoch || (point.epoch === fault.epoch && point.view > fault.view)) {
      const tookMs = queue.nowMs() - fault.atMs;
      this.#leaderFault = undefined;
      const label = `${fault.kind}${this.#circumstances()}`;
      coverage.sample(`recovered from a leader fault (${label}), ms`, tookMs);
      if (this.#isClean() && tookMs > LEADER_FAULT_MAX_MS) {
        throw new Violation("L2", `a failed leader (${fault.kind}) cost ${tookMs} ms`);
      }
    }
  }

  onAcknowledged(latencyMs: number): void {
    if (this.#cluster.plan.profile === "calm") {
      this.#cluster.coverage.sample("acknowledged in a calm run, ms", latencyMs);
    }
  }

  onLeaderFault(kind: "link down" | "silent"): void {
    if (this.#cluster.plan.profile !== "calm") return;
    const leader = this.#cluster.currentLeader();
    for (const node of this.#cluster.nodes) {
      const status = node.status();
      if (status === undefined || status.leader !== leader || node.index === leader) continue;
      const { epoch, view } = status;
      this.#leaderFault = { kind, atMs: this.#cluster.queue.nowMs(), epoch, view };
      return;
    }
  }

  onOutage(fault: Fault & { readonly kind: "quorum outage" }, hasBegun: boolean): void {
    const { nodes, coverage, queue } = this.#cluster;
    if (hasBegun) {
      this.#viewsAtOutage = new Map();
      for (const node of nodes) {
        const status = node.status();
        if (status === undefined || !node.isCorrect()) continue;
        this.#viewsAtOutage.set(node.index, { epoch: status.epoch, view: status.view });
      }
      return;
    }
    this.#resumedAtMs = queue.nowMs();
    const highest = Math.max(...[...this.#viewsAtOutage.values()].map(({ view }) => view));
    for (const node of nodes) {
      const [before, after] = [this.#viewsAtOutage.get(node.index), node.status()];
      if (before === undefined || after === undefined || before.epoch !== after.epoch) continue;
      coverage.sample("views left without a quorum", after.view - before.view);
      if (after.view > highest + VIEW_GROWTH_MAX) {
        const growth = `${highest} to ${after.view} in ${fault.forMs} ms`;
        throw new Violation("L3", `replica ${node.index} moved from view ${growth}`);
      }
    }
  }

  /** Runs on until everything has recovered, or fails when it takes too long. */
  afterHealing(): void {
    const cluster = this.#cluster;
    const { plan, queue, coverage, clients } = cluster;
    const healedMs = queue.nowMs();
    if (!plan.isLivenessExpected) {
      // The chain may halt, but not before the height at which machines began to compute wrongly.
      for (let waited = 0; waited < CATCH_UP_MAX_MS && !cluster.hasEnoughBlocks(); waited += 500) {
        cluster.runUntil(queue.nowMs() + 500);
      }
      cluster.runUntil(queue.nowMs() + 1_500);
      return;
    }
    let isStopped = false;
    for (;;) {
      cluster.runUntil(queue.nowMs() + SETTLE_STEP_MS);
      const sinceMs = queue.nowMs() - healedMs;
      this.#checkAcknowledged(healedMs);
      if (!isStopped && sinceMs >= 500 && cluster.hasEnoughBlocks()) {
        isStopped = true;
        for (const client of clients) client.isStopped = true;
      }
      const isIdle = clients.every((client) => client.outstandingSinceUs() === undefined);
      const laggard = this.#laggard();
      if (isStopped && isIdle && laggard === undefined) break;
      if (sinceMs > CATCH_UP_MAX_MS && laggard !== undefined) throw new Violation("L5", laggard);
      if (sinceMs > 4 * CATCH_UP_MAX_MS) {
        throw new Violation("L1", `only ${cluster.finalBlocks()} blocks were final at last`);
      }
    }
    coverage.sample("recovered after healing, ms", queue.nowMs() - healedMs);
  }

  #checkAcknowledged(healedMs: number): void {
    const { clients, queue } = this.#cluster;
    for (const client of clients) {
      const sinceUs = client.outstandingSinceUs();
      if (sinceUs === undefined) continue;
      const waitedMs = queue.nowMs() - Math.max(healedMs, sinceUs / 1000);
      if (waitedMs > ACKNOWLEDGE_MAX_MS) {
        throw new Violation("L1", `${client.describe()} waits ${waitedMs} ms\n${this.describe()}`);
      }
    }
  }

  /** A correct replica that has not caught up, or has not been let in again. */
  #laggard(): string | undefined {
    const { nodes, checker } = this.#cluster;
    for (const node of nodes) {
      if (!node.isCorrect()) continue;
      const status = node.status();
      if (status?.mode !== "active") return `replica ${node.index} is ${status?.mode ?? "down"}`;
      const target = checker.highestFinalized();
      if (status.finalHeight < target || status.execHeight < status.finalHeight) {
        return `replica ${node.index} is at ${status.finalHeight}/${status.execHeight} of ${target}`;
      }
    }
    return undefined;
  }

  describe(): string {
    return this.#cluster.nodes
      .map((node) => {
        const status = node.status();
        if (status === undefined) return `${node.name()}: down`;
        const { mode, epoch, view, isAccepted, finalHeight, tipHeight, execHeight } = status;
        const accepted = isAccepted ? "" : " (not accepted)";
        return (
          `${node.name()}: ${mode} ${epoch}/${view}${accepted} final ${finalHeight} ` +
          `tip ${tipHeight} exec ${execHeight} pending ${status.pendingCount}`
        );
      })
      .join("\n");
  }

  #circumstances(): string {
    if (!this.#isClean()) return ", rough links";
    // A leader whose clock is far behind its predecessor's waits for it (PROTOCOL §10).
    return 2 * this.#cluster.plan.wallSkewMaxMs > DEFAULT_TIMING.clockLeadMaxMs
      ? ", clocks apart"
      : "";
  }

  /** Nothing but the measured fault can be to blame for a delay. */
  #isClean(): boolean {
    const { quality, replicaCount } = this.#cluster.plan;
    const { loss, corruption, reordering, delayUs, jitterUs } = quality;
    return (
      replicaCount === this.#quorum.replicaCount &&
      loss === 0 &&
      corruption === 0 &&
      reordering === 0 &&
      delayUs + jitterUs <= 5_000
    );
  }
}

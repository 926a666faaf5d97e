/**
 * The simulator inside `npm test`: fixed seeds, those that once found a bug, and its own checks.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, it } from "node:test";
import { ORDERING_BEHAVIOURS } from "./actor.ts";
import { Cluster } from "./cluster.ts";
import { runHealthy } from "./healthy-run.ts";
import { drawPlan, type Plan } from "./plan.ts";
import { Report } from "./report.ts";
import { runSeed, type Outcome } from "./run-seed.ts";
import { FIXED_SEEDS, SEEDS_THAT_FOUND_BUGS } from "./seeds.ts";

const WORKER = path.join(import.meta.dirname, "worker.ts");

describe("simulator", () => {
  it("keeps every safety and liveness invariant over the fixed seeds", () => {
    const report = new Report();
    for (const seed of FIXED_SEEDS) {
      // Now and then with the real signatures: the fast ones must not hide anything.
      const outcome = runSeed(seed, { isEd25519: seed % 25 === 0 });
      report.add(outcome);
      assert.equal(
        outcome.violation?.text,
        undefined,
        `SEED=${seed}: npm run sim -- --seed ${seed}`,
      );
      assert.ok(outcome.finalBlocks >= 50, `SEED=${seed}: only ${outcome.finalBlocks} blocks`);
    }
    assert.ok(report.faultsPerSeed() >= 20, `${report.faultsPerSeed()} faults per seed`);
  });

  it("keeps every invariant over the seeds that once found a bug", () => {
    for (const { seed, bug } of SEEDS_THAT_FOUND_BUGS) {
      const outcome = runSeed(seed);
      assert.equal(outcome.violation?.text, undefined, `SEED=${seed}, once: ${bug}`);
    }
  });

  it("gives one seed one history", () => {
    for (const seed of [2, 9, 16]) {
      const [first, second] = [runSeed(seed), runSeed(seed)];
      assert.equal(first.historyHash, second.historyHash, `SEED=${seed}`);
      assert.deepEqual(first.coverage, second.coverage, `SEED=${seed}`);
    }
  });

  it("finds broken rules: a vote that is not durable, a fast path without all votes", () => {
    for (const mutant of ["vote-not-durable", "fast-quorum-too-small", "view-change-not-durable"]) {
      const args = [WORKER, "--mutant", mutant, "--until-violation", "--count", "10"];
      const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
      const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Partial<Outcome>;
      assert.notEqual(last.violation, undefined, `${mutant} was not found`);
    }
  });

  it("changes no view and complains of nothing while all is well", () => {
    const { blocks, viewChanges, fast, slow } = runHealthy(2_000);
    assert.ok(blocks >= 2_000);
    assert.equal(viewChanges, 0);
    assert.ok(fast > 99 * slow, `${fast} fast and ${slow} slow decisions`);
  });

  it("changes no view although execution is the bottleneck and differs from block to block", () => {
    const cluster = new Cluster({ plan: executionBoundPlan(), traceLines: 0 });
    cluster.start();
    cluster.runUntil(20_000);
    assert.ok(cluster.finalBlocks() >= 20, `${cluster.finalBlocks()} blocks`);
    assert.equal(cluster.coverage.get("notice: VIEW_ENTERED"), 0);
  });

  it("replaces a leader that orders only its own transactions, or one at a time", () => {
    for (const behaviour of ORDERING_BEHAVIOURS) {
      const byzantine = [{ replica: 0, behaviours: [behaviour] }];
      const load = { clientCount: 6, thinkUs: [20_000, 60_000] } as const;
      const cluster = new Cluster({
        plan: { ...healthyPlan(), ...load, byzantine },
        traceLines: 0,
      });
      cluster.start();
      cluster.runUntil(6_000);
      assert.ok(cluster.coverage.get(`byzantine: ${behaviour}`) > 0, behaviour);
      const waitedMs = cluster.clients.map((client) => {
        return 6_000 - (client.outstandingSinceUs() ?? Infinity) / 1000;
      });
      assert.ok(
        Math.max(...waitedMs) < 3_000,
        `${behaviour}: a client waits ${waitedMs.join()} ms`,
      );
      assert.ok(cluster.coverage.get("notice: VIEW_ENTERED") >= 3, `${behaviour}: never replaced`);
      const acknowledged = cluster.coverage.get("transactions acknowledged");
      assert.ok(acknowledged > 200, `${behaviour}: ${acknowledged} acknowledged`);
    }
  });

  it("replaces such a leader under heavy load by the rule on censorship alone", () => {
    for (const behaviour of ORDERING_BEHAVIOURS) {
      const byzantine = [{ replica: 0, behaviours: [behaviour] }];
      const cluster = new Cluster({ plan: { ...healthyPlan(), byzantine }, traceLines: 0 });
      cluster.start();
      cluster.runUntil(1_500);
      const { coverage } = cluster;
      assert.ok(coverage.get(`byzantine: ${behaviour}`) > 0, behaviour);
      assert.equal(cluster.currentLeader(), 1, `${behaviour}: not replaced`);
      assert.ok(coverage.get("complaint: censorship") >= 2, behaviour);
      assert.equal(coverage.totalOf("complaint: "), coverage.get("complaint: censorship"));
      assert.ok(coverage.get("transactions acknowledged") > 1_000, behaviour);
    }
  });
});

/** Four healthy replicas that take 600 to 1100 ms for a block and order at most 2 blocks ahead. */
function executionBoundPlan(): Plan {
  return { ...healthyPlan(), execLagMax: 2, executeUs: [600_000, 1_100_000] };
}

function healthyPlan(): Plan {
  const quality = { delayUs: 200, jitterUs: 200, loss: 0, duplication: 0 };
  return {
    ...drawPlan(0, { replicaCount: 4 }),
    profile: "calm",
    window: 4,
    gatherFrom: 4,
    gatherPerBlock: 0,
    execLagMax: 64,
    quality: { ...quality, reordering: 0, corruption: 0 },
    qualitySpread: 1,
    syncUs: [300, 600],
    executeUs: [300, 600],
    compactEvery: 1000,
    wallSkewMaxMs: 20,
    clientCount: 30,
    thinkUs: [0, 500],
    fanOut: 4,
    byzantine: [],
    twin: undefined,
    faults: [],
  };
}

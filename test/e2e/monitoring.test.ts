/**
 * The alert rules and the dashboard in a real Prometheus that scrapes a real network. What cannot
 * be had from one in seconds (a divergence, a full disk, a replica far behind, lost log lines) is
 * exported by a node of the same code with other readings.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { HealthServer } from "../../src/metrics/health-server.ts";
import { createEveryMetric } from "../support/every-metric.ts";
import {
  type RunningNetwork,
  SERVICES,
  startNetwork,
  waitFor,
} from "../support/network-process.ts";
import { Prometheus, prometheusMissing } from "../support/prometheus.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const RULES = path.join(ROOT, "deploy/monitoring/alerts.yaml");
const ALERT_TIMEOUT_MS = 30_000;

const missing = prometheusMissing();
if (missing !== undefined) console.log(`SKIPPED alerts in a real Prometheus: ${missing}`);

type Dashboard = { panels: { title: string; targets?: { expr: string }[] }[] };

describe("monitoring", { skip: missing ?? false, timeout: 240_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-monitoring-"));
  const stand = createEveryMetric("replica-9", "stand-in");
  let network: RunningNetwork;
  let health: HealthServer;
  let prometheus: Prometheus;
  let nonce = 0;

  before(async () => {
    network = await startNetwork();
    const source = { notReadyReason: () => undefined, status: () => ({}), metrics: stand.metrics };
    health = await HealthServer.open({ host: "127.0.0.1", port: 0 }, source);
    const ports = SERVICES.map((service) => {
      const file = path.join(network.dataPath, "config", `${service}.json`);
      return (JSON.parse(readFileSync(file, "utf8")) as { health: { port: number } }).health.port;
    });
    const targets = [...ports, health.port].map((port) => `127.0.0.1:${port}`);
    // An operator waits until it is no hiccup; a test does not.
    const rules = readFileSync(RULES, "utf8").replace(/for: \d+m/g, "for: 1s");
    const hasty = rules.replace("published_height[2m]", "published_height[20s]");
    assert.notEqual(hasty, rules);
    prometheus = await Prometheus.open(directory, { targets, rules: hasty });
    await waitFor(
      async () => (await prometheus.value('count(up{job="quorate"} == 1)')) === 6,
      "all are scraped",
      ALERT_TIMEOUT_MS,
    );
  });
  after(async () => {
    await prometheus.close();
    await health.close();
    await network.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const fires = async (alert: string): Promise<void> => {
    const isFiring = async (): Promise<boolean> => (await prometheus.firing()).includes(alert);
    await waitFor(isFiring, `${alert} fires`, ALERT_TIMEOUT_MS);
  };
  const ends = async (alert: string): Promise<void> => {
    const isOver = async (): Promise<boolean> => !(await prometheus.firing()).includes(alert);
    await waitFor(isOver, `${alert} ends`, ALERT_TIMEOUT_MS);
  };
  const send = async (): Promise<void> => {
    const key = network.accounts[0]?.privateKey ?? "0x";
    const account = privateKeyToAccount(key);
    const raw = await account.signTransaction({
      ...{ type: "legacy", to: account.address, value: 0n, gas: 21_000n, gasPrice: 0n },
      ...{ nonce: nonce++, chainId: Number(network.chainId) },
    });
    await network.rpc("eth_sendRawTransaction", [raw]);
  };

  it("has rules that promtool accepts", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", RULES]);
    assert.equal(status, 0, `${stdout.toString()}${stderr.toString()}`);
  });

  it("exports text that promtool finds nothing wrong with", async () => {
    const text = await stand.metrics.text();
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text });
    assert.equal(status, 0, `${stdout.toString()}${stderr.toString()}`);
  });

  it("raises nothing but what the machine's own disk causes while all is well", async () => {
    for (let count = 0; count < 5; count += 1) await send();
    await waitFor(
      async () => (await prometheus.value("max(quorate_replica_final_transactions_total)")) === 5,
      "the transactions are counted",
    );
    // Rules need a few rounds to fire at all.
    const rounds = 'count_over_time(up{instance=~".+"}[1m]) >= 6';
    await waitFor(async () => (await prometheus.query(rounds)).length === 6, "a few rounds");
    // A network is ready with three replicas: the fourth may have been late.
    let firing: readonly string[] = [];
    const isCalm = async (): Promise<boolean> => {
      firing = (await prometheus.firing()).filter((alert) => alert !== "QuorateDiskLow");
      return firing.length === 0;
    };
    await waitFor(isCalm, "no alert", ALERT_TIMEOUT_MS).catch(() => assert.deepEqual(firing, []));
  });

  it("notes the times of a transaction's life", async () => {
    const counts = [
      "quorate_client_commit_seconds_count",
      'quorate_rpc_request_seconds_count{method="eth_sendRawTransaction"}',
    ];
    for (const name of counts) {
      await waitFor(async () => (await prometheus.value(name)) === 5, name);
    }
    for (const name of ["commit_seconds", "block_transactions", "execution_seconds"]) {
      const least = `min(quorate_replica_${name}_count{node=~"replica-[0-3]"})`;
      await waitFor(async () => ((await prometheus.value(least)) ?? 0) > 0, name);
    }
    const syncs = await prometheus.value("max(quorate_replica_log_sync_seconds_count)");
    assert.ok((syncs ?? 0) > 0);
  });

  it("answers every query of the dashboard with data", async () => {
    const file = path.join(ROOT, "deploy/monitoring/dashboard.json");
    const { panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert.ok(queries.length > 30);
    await network.rpc("no_such_method").catch(() => undefined);
    for (const query of queries) {
      const asked = query.replaceAll("$__rate_interval", "1m").replaceAll("$blockchain", ".*");
      await waitFor(async () => (await prometheus.query(asked)).length > 0, asked);
    }
  });

  it("raises QuorateReplicaLagging for a replica far behind the others", async () => {
    stand.state.report = { ...stand.state.report, finalHeight: 100, execHeight: 10 };
    await fires("QuorateReplicaLagging");
    stand.state.report = { ...stand.state.report, execHeight: 100 };
    await ends("QuorateReplicaLagging");
  });

  it("raises QuorateDiverged for a replica whose results differ", async () => {
    stand.state.report = { ...stand.state.report, alarm: "EXECUTION_DIVERGED" };
    await fires("QuorateDiverged");
  });

  it("raises QuorateDiskFull for a full disk, until there is room", async () => {
    stand.state.report = { ...stand.state.report, isDiskFull: true };
    await fires("QuorateDiskFull");
    stand.state.report = { ...stand.state.report, isDiskFull: false };
    await ends("QuorateDiskFull");
  });

  it("raises QuorateLogDrops and QuorateLogEndpointDown for lost log lines", async () => {
    const [endpoint] = stand.state.shipper.endpoints;
    assert.ok(endpoint !== undefined);
    const lost = { ...endpoint, isUp: false, droppedLines: 7 };
    stand.state.shipper = { ...stand.state.shipper, endpoints: [lost] };
    await fires("QuorateLogDrops");
    await fires("QuorateLogEndpointDown");
  });

  it("raises QuorateViewChanged when the leader is killed", async () => {
    const leader = await prometheus.value("max(quorate_client_leader)");
    const service = SERVICES[leader ?? 0];
    assert.ok(service !== undefined);
    const changes = 'sum(quorate_replica_view_changes_total{node=~"replica-[0-3]"})';
    const before = (await prometheus.value(changes)) ?? 0;
    network.kill(service);
    await send();
    // The count of the one that was killed begins anew.
    await waitFor(async () => ((await prometheus.value(changes)) ?? 0) > before, "it shows");
    await fires("QuorateViewChanged");
    await waitFor(() => network.pid(service) !== undefined, "it is back");
  });

  it("raises QuorateNoSlack, QuorateNodeDown and QuorateNoProgress when replicas hang", async () => {
    await waitFor(
      async () => (await prometheus.value("max(quorate_client_replicas_up)")) === 4,
      "all are up",
      ALERT_TIMEOUT_MS,
    );
    const hung = ["replica-2", "replica-3"] as const;
    for (const replica of hung) network.kill(replica, "SIGSTOP");
    try {
      await send();
      await fires("QuorateNodeDown");
      await fires("QuorateNoSlack");
      await fires("QuorateNoProgress");
    } finally {
      for (const replica of hung) network.kill(replica, "SIGCONT");
    }
    await ends("QuorateNoProgress");
  });
});

/**
 * The alert rules and the dashboard in a real Prometheus that scrapes a real network, with real
 * faults: a full disk that keeps a replica behind, wrong results, lost log lines, a killed leader,
 * hanging replicas. Where no disk can be mounted, a node of the same code with other readings
 * stands in for that one.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { Shipper } from "../../src/logging/shipper.ts";
import { HealthServer } from "../../src/metrics/health-server.ts";
import { divergingEnvironment } from "../support/processes/diverging-replica.ts";
import { createEveryMetric } from "../support/every-metric.ts";
import { FaultyLogServer } from "../support/faulty-log-server.ts";
import {
  type RunningNetwork,
  SERVICES,
  startNetwork,
  waitFor,
} from "../support/processes/network-process.ts";
import { Prometheus, prometheusMissing } from "../support/processes/prometheus.ts";
import { SmallDisk } from "../support/small-disk.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const RULES = path.join(ROOT, "deploy/monitoring/alerts.yaml");
const ALERT_TIMEOUT_MS = 30_000;
/** A replica takes 129 MiB for its logs before it has written anything, and keeps a reserve. */
const DISK_SIZE = 400 * 1024 * 1024;
/** More than QuorateReplicaLagging bears. */
const BLOCKS_BEHIND = 80;

const missing = prometheusMissing();
if (missing !== undefined) console.log(`SKIPPED alerts in a real Prometheus: ${missing}`);

type Dashboard = { panels: { title: string; targets?: { expr: string }[] }[] };

describe("monitoring", { skip: missing ?? false, timeout: 240_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-monitoring-"));
  const stand = createEveryMetric("replica-9", "stand-in");
  const dataPath = path.join(directory, "network");
  const divergingFile = path.join(directory, "diverging");
  let disk: SmallDisk | string;
  let network: RunningNetwork;
  let health: HealthServer;
  let prometheus: Prometheus;
  let nonce = 0;

  before(async () => {
    const made = await startNetwork({ dataPath });
    await made.stop();
    disk = SmallDisk.mount(path.join(dataPath, "replica-3"), DISK_SIZE);
    network = await startNetwork({ dataPath, environment: divergingEnvironment(divergingFile) });
    // A network that was stopped agrees on a leader with its first block: no part of this.
    await send("eth_sendRawTransactionSync");
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
    if (disk instanceof SmallDisk) disk.unmount();
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
  const send = async (method = "eth_sendRawTransaction"): Promise<void> => {
    const key = network.accounts[0]?.privateKey ?? "0x";
    const account = privateKeyToAccount(key);
    const raw = await account.signTransaction({
      ...{ type: "legacy", to: account.address, value: 0n, gas: 21_000n, gasPrice: 0n },
      ...{ nonce: nonce++, chainId: Number(network.chainId) },
    });
    await network.rpc(method, [raw]);
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
      async () =>
        (await prometheus.value("max(quorate_replica_final_transactions_total)")) === nonce,
      "the transactions are counted",
    );
    // Rules need a few rounds to fire at all.
    const rounds = 'count_over_time(up{instance=~".+"}[1m]) >= 6';
    await waitFor(async () => (await prometheus.query(rounds)).length === 6, "a few rounds");
    // What fired while the network started takes a round to end.
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
      'sum(quorate_rpc_request_seconds_count{method=~"eth_sendRawTransaction.*"})',
    ];
    for (const name of counts) {
      await waitFor(async () => (await prometheus.value(name)) === nonce, name);
    }
    for (const name of ["commit_seconds", "block_transactions", "execution_seconds"]) {
      const least = `min(quorate_replica_${name}_count{node=~"replica-[0-3]"})`;
      await waitFor(async () => ((await prometheus.value(least)) ?? 0) > 0, name);
    }
    const syncs = await prometheus.value("max(quorate_replica_log_sync_seconds_count)");
    assert.ok((syncs ?? 0) > 0);
  });

  it("answers every query of the dashboard with data", async () => {
    const file = path.join(ROOT, "deploy/chart/dashboard.json");
    const { panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert.ok(queries.length > 30);
    await network.rpc("no_such_method").catch(() => undefined);
    for (const query of queries) {
      const asked = query.replaceAll("$__rate_interval", "1m").replaceAll("$blockchain", ".*");
      await waitFor(async () => (await prometheus.query(asked)).length > 0, asked);
    }
  });

  it("raises QuorateDiskFull and QuorateReplicaLagging for a full disk, until there is room", async () => {
    const { report } = stand.state;
    if (disk instanceof SmallDisk) {
      disk.fill();
      // What is executed is written behind: until that fails the replica goes on.
      await send("eth_sendRawTransactionSync");
      await fires("QuorateDiskFull");
      for (let count = 0; count < BLOCKS_BEHIND; count += 1) {
        await send("eth_sendRawTransactionSync");
      }
    } else {
      console.log(`by a stand-in: ${disk}`);
      stand.state.report = { ...report, finalHeight: 100, execHeight: 10, isDiskFull: true };
    }
    await fires("QuorateDiskFull");
    await fires("QuorateReplicaLagging");
    if (disk instanceof SmallDisk) disk.makeRoom();
    stand.state.report = report;
    await ends("QuorateDiskFull");
    await ends("QuorateReplicaLagging");
  });

  it("raises QuorateLogDrops and QuorateLogEndpointDown while the log endpoint of a shipper is down", async () => {
    const silent = await FaultyLogServer.open();
    silent.mood = "silence";
    const endpoint = { name: "endpoint_1", url: silent.url, username: undefined };
    const shipper = new Shipper({
      endpoints: [{ ...endpoint, password: undefined }],
      spoolDirectory: path.join(directory, "spool"),
      ...{ spoolSizeMax: 20_000, segmentSize: 4_000, timing: { answerTimeoutMs: 200 } },
    });
    try {
      await waitFor(
        async () => {
          for (let count = 0; count < 100; count += 1) shipper.write(`{"count":${count}}`);
          stand.state.shipper = shipper.counts;
          const firing = await prometheus.firing();
          return ["QuorateLogDrops", "QuorateLogEndpointDown"].every((name) =>
            firing.includes(name),
          );
        },
        "both fire",
        ALERT_TIMEOUT_MS,
      );
      assert.ok((shipper.counts.endpoints[0]?.droppedLines ?? 0) > 0);
    } finally {
      await shipper.close(0);
      await silent.goAway();
    }
  });

  it("raises QuorateClientStalls when the main thread of a client node is held up", async () => {
    await waitFor(
      async () => {
        stand.client.onStall(10_000);
        return (await prometheus.firing()).includes("QuorateClientStalls");
      },
      "it fires",
      ALERT_TIMEOUT_MS,
    );
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

  it("raises QuorateDiverged for a replica whose results differ", async () => {
    await waitFor(
      async () => (await prometheus.value("max(quorate_client_replicas_up)")) === 4,
      "all are up",
      ALERT_TIMEOUT_MS,
    );
    const leader = await prometheus.value("max(quorate_client_leader)");
    const service = SERVICES[leader === 0 ? 1 : 0];
    writeFileSync(divergingFile, service);
    await send();
    await fires("QuorateDiverged");
    const diverged = `quorate_replica_alarm{node="${service}",code="EXECUTION_DIVERGED"}`;
    assert.equal(await prometheus.value(diverged), 1);
    const alarmed = await prometheus.query("quorate_replica_alarm > 0");
    assert.equal(alarmed.length, 1, "it alone");
  });
});

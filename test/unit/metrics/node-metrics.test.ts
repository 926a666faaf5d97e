import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HealthServer } from "../../../src/metrics/health-server.ts";
import { createEveryMetric } from "../../support/every-metric.ts";

describe("node metrics", () => {
  it("carry the network and the node", async () => {
    const { metrics } = createEveryMetric("replica-2", "chain-x");
    const lines = valuesOf(await metrics.text());
    assert.ok(lines.length > 40);
    for (const line of lines) {
      assert.match(line, /blockchain_id="chain-x"/);
      assert.match(line, /node="replica-2"/);
    }
  });

  it("leave out what is not known instead of calling it 0", async () => {
    const { metrics } = createEveryMetric();
    const text = await metrics.text();
    // There is no client node behind these. What is counted as it happens begins at 0.
    assert.deepEqual(
      valuesOf(text).filter((line) => /^quorate_client_(?!commit|stall)/.test(line)),
      [],
    );
    assert.match(text, /^quorate_replica_peers_up\{.*\} 3$/m);
  });

  it("follow the node from one reading to the next", async () => {
    const { metrics, state, replica } = createEveryMetric();
    const read = async (name: string): Promise<string | undefined> =>
      valuesOf(await metrics.text())
        .find((line) => line.startsWith(`${name}{`))
        ?.split(" ")
        .at(-1);
    assert.equal(await read("quorate_replica_alarm"), undefined);
    state.report = { ...state.report, alarm: "EXECUTION_DIVERGED", view: 7, leader: 3 };
    state.counters = { ...state.counters, viewChanges: 2 };
    replica.onFinal(10, 12);
    replica.onLogSynced(3);
    assert.equal(await read("quorate_replica_alarm"), "1");
    assert.equal(await read("quorate_replica_view"), "7");
    assert.equal(await read("quorate_replica_is_leader"), "0");
    assert.equal(await read("quorate_replica_view_changes_total"), "2");
    assert.equal(await read("quorate_replica_view_changes_total"), "2", "counted once");
    assert.equal(await read("quorate_replica_commit_seconds_sum"), "0.012");
    assert.equal(await read("quorate_replica_log_sync_seconds_count"), "1");
    state.report = { ...state.report, alarm: undefined };
    assert.equal(await read("quorate_replica_alarm"), undefined);
  });

  it("keep made-up method names out", async () => {
    const { metrics, client } = createEveryMetric();
    client.onAnswered("eth_call", 2, undefined);
    client.onAnswered(undefined, 1, -32601);
    const text = await metrics.text();
    assert.match(text, /quorate_rpc_errors_total\{method="unknown",code="-32601"/);
    assert.match(text, /quorate_rpc_request_seconds_count\{.*method="eth_call".*\} 1/);
  });

  it("are answered at /metrics of the health server", async () => {
    const { metrics } = createEveryMetric();
    const source = { notReadyReason: () => undefined, status: () => ({}), metrics };
    const health = await HealthServer.open({ host: "127.0.0.1", port: 0 }, source);
    const response = await fetch(`http://127.0.0.1:${health.port}/metrics`);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    assert.match(await response.text(), /^# HELP quorate_build_info /m);
    await health.close();
  });
});

function valuesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

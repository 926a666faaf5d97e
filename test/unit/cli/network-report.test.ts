import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { LocalNetwork } from "../../../src/local-network/local-network.ts";
import { createReport } from "../../../src/local-network/network-report.ts";
import { HealthServer } from "../../../src/metrics/health-server.ts";

type Status = Readonly<Record<string, unknown>>;

const REPLICAS = ["replica-0", "replica-1", "replica-2", "replica-3"];
const CLIENT = "client-0";
const HEIGHTS = { finalHeight: 7, execHeight: 7, publishedHeight: 7, blockNumber: "7" };
const REPLICA: Status = {
  ...{ pid: 1, mode: "active", epoch: 0, view: 2, peersUp: [1, 2, 3], ...HEIGHTS },
  ...{ pendingCount: 0, isDiskFull: false, uptimeMs: 5 },
};
const READY: Status = {
  ...{ pid: 2, isReady: true, replicasUp: 3, lag: 0, openTransactions: 0, uptimeMs: 5 },
  ...{ pool: { executable: 0, queued: 0 }, ...HEIGHTS },
};

describe("where a network stands", () => {
  const servers: HealthServer[] = [];
  const statuses = new Map<string, Status>();
  let network: LocalNetwork;

  before(async () => {
    const health = new Map<string, { host: string; port: number }>();
    for (const name of [...REPLICAS, CLIENT]) {
      const server = await HealthServer.open(
        { host: "127.0.0.1", port: 0 },
        { notReadyReason: () => undefined, status: () => statuses.get(name) ?? {} },
      );
      servers.push(server);
      health.set(name, { host: "127.0.0.1", port: server.port });
    }
    // Of the network's file the report shows two names only.
    const file = { blockchainId: "test", genesis: { chainId: 5000n } } as LocalNetwork["file"];
    network = { file, health, hasTls: false };
  });
  after(async () => {
    for (const server of servers) await server.close();
  });

  const problem = async (client: Status, last: Status = REPLICA): Promise<string | undefined> => {
    for (const name of REPLICAS) statuses.set(name, name === "replica-3" ? last : REPLICA);
    statuses.set(CLIENT, { ...READY, ...client });
    return (await createReport(network, undefined)).problem;
  };

  it("is judged from what the replicas say, not from what the client last heard of them", async () => {
    const old = "no progress: 2 of 4 replicas take part, 3 are needed";
    assert.equal(await problem({ problem: old }), undefined);
    assert.equal(await problem({}, { ...REPLICA, mode: "probing" }), undefined, "three do");
  });

  it("tells of the client's own trouble", async () => {
    const nodeProblem = "no transaction is accepted: the client node's disk is full";
    assert.equal(await problem({ nodeProblem }), nodeProblem);
  });

  it("says how many replicas a client reaches that is not ready", async () => {
    assert.equal(
      await problem({ isReady: false, replicasUp: 2 }),
      "the client node is not ready: it reaches 2 of 4 replicas, 3 are needed",
    );
    assert.equal(
      await problem({ isReady: false, replicasUp: 4 }),
      "the client node is not ready: it is catching up",
    );
  });
});

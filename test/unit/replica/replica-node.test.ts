/** Four replicas in this process: real TLS, real disk, real threads. */
import assert from "node:assert/strict";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { bytesToHex } from "../../../src/base/hex.ts";
import { ReplicaNode } from "../../../src/replica/replica-node.ts";
import type { ReplicaOptions } from "../../../src/replica/replica-options.ts";
import { FollowingClient, until } from "../../support/following-client.ts";
import {
  HOST,
  REPLICA_COUNT,
  replicaOptions,
  SILENT_LOGGER,
  transfer,
} from "../../support/replica-network.ts";

class Cluster {
  readonly nodes: (ReplicaNode | undefined)[] = [];
  readonly directory = mkdtempSync(path.join(tmpdir(), "quorate-replica-"));
  readonly failures: unknown[] = [];

  async start(index: number, more: Partial<ReplicaOptions> = {}): Promise<ReplicaNode> {
    const dataPath = path.join(this.directory, `replica-${index}`);
    const logger =
      process.env["REPLICA_LOG"] === undefined
        ? SILENT_LOGGER
        : {
            debug: (message: string, fields?: object) => console.log(index, message, fields),
            info: (message: string, fields?: object) => console.log(index, message, fields),
            warn: (message: string, fields?: object) => console.log(index, message, fields),
            error: (message: string, fields?: object) => console.log(index, message, fields),
          };
    const node = await ReplicaNode.open(replicaOptions(index, dataPath, more), {
      logger,
      onFatal: (error) => this.failures.push(error),
    });
    this.nodes[index] = node;
    this.introduce();
    return node;
  }

  introduce(): void {
    for (const node of this.nodes) {
      this.nodes.forEach((other, index) => {
        if (node === other || other === undefined) return;
        node?.setEndpoint(index, { host: HOST, port: other.port });
      });
    }
  }

  async stop(index: number): Promise<void> {
    const node = this.nodes[index];
    this.nodes[index] = undefined;
    await node?.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((_, index) => this.stop(index)));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

describe("four replicas", () => {
  const cluster = new Cluster();
  let client: FollowingClient;
  const nonces = new Map<number, number>();

  const nextTransfers = (accounts: number, count: number): Uint8Array[] =>
    Array.from({ length: accounts }, (_, account) =>
      Array.from({ length: count }, () => {
        const nonce = nonces.get(account) ?? 0;
        nonces.set(account, nonce + 1);
        return transfer(account, nonce);
      }),
    ).flat();

  const settled = (): boolean =>
    client.waiting.size === 0 && client.isAgreed(client.finalHeight, REPLICA_COUNT);

  before(async () => {
    // One of them recovers on other threads, which must make no difference.
    const start = (index: number): Promise<ReplicaNode> =>
      cluster.start(index, { senderThreads: index === 0 ? 2 : 0 });
    await Promise.all(Array.from({ length: REPLICA_COUNT }, (_, index) => start(index)));
    client = await FollowingClient.open(cluster.nodes.map((node) => node!.port));
  });
  after(async () => {
    await client.close();
    await cluster.close();
  });

  it("order what a client submits, execute it alike and tell the client", async () => {
    client.submit(nextTransfers(20, 10));
    await until(settled, "200 transfers are final and executed");
    assert.ok([...client.ordered.values()].every((count) => count === 1));
    assert.equal(client.ordered.size, 200);
    const height = client.finalHeight;
    assert.ok(client.certified.has(height), "the last block is proved");
    const results = new Set(cluster.nodes.map((node) => bytesToHex(node!.resultOf(height)!)));
    assert.equal(results.size, 1);
    assert.deepEqual(cluster.failures, []);
  });

  it("say where they stand, and refuse what cannot be with a code", async () => {
    client.ask({ kind: "statusRequest", nonce: 77 });
    client.ask({ kind: "submit", transactions: [Uint8Array.of(1, 2, 3), transfer(0, 0, 5n)] });
    await until(() => client.reports.size === REPLICA_COUNT, "all report");
    for (const [replica, report] of client.reports) {
      assert.equal(report.nonce, 77);
      assert.equal(report.replica, replica);
      assert.equal(report.mode, "active");
      assert.equal(report.finalHeight, client.finalHeight);
      assert.equal(report.execHeight, client.finalHeight);
      assert.equal(report.peersUp.length, REPLICA_COUNT - 1);
    }
    const codes = (): Set<string> => new Set(client.refusals.map(({ code }) => code));
    await until(() => client.refusals.length === 2 * REPLICA_COUNT, "all refuse both");
    assert.equal(codes().size, 2);
    assert.ok(codes().has("TX_NONCE_TOO_LOW"));
  });

  it("wait for a missing nonce and then order both", async () => {
    const nonce = nonces.get(30) ?? 0;
    nonces.set(30, nonce + 2);
    client.submit([transfer(30, nonce + 1)]);
    const heightBefore = client.finalHeight;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(client.finalHeight, heightBefore);
    client.submit([transfer(30, nonce)]);
    await until(settled, "both are final");
  });

  it("go on when one is stopped, and it catches up from its own log and the others", async () => {
    await cluster.stop(3);
    client.submit(nextTransfers(20, 5));
    await until(() => client.waiting.size === 0, "three replicas order");
    await until(() => client.isAgreed(client.finalHeight, 3), "three replicas execute");
    const node = await cluster.start(3, { startMode: "resume" });
    client.setPort(3, node.port);
    client.submit(nextTransfers(20, 5));
    await until(settled, "the fourth is level again");
    await until(() => node.report().mode === "active", "it takes part");
  });

  it("go on when the leader is stopped", async () => {
    const { leader } = cluster.nodes.find((node) => node !== undefined)!.report();
    await cluster.stop(leader);
    const startMs = performance.now();
    client.submit(nextTransfers(5, 1));
    await until(() => client.waiting.size === 0, "another replica leads");
    console.log(`leader stopped: next final after ${Math.round(performance.now() - startMs)} ms`);
    const node = await cluster.start(leader, { startMode: "resume" });
    client.setPort(leader, node.port);
    await until(settled, "the old leader is level again");
  });

  it("all restart, and nothing is lost", async () => {
    const heightBefore = client.finalHeight;
    await Promise.all([0, 1, 2, 3].map((index) => cluster.stop(index)));
    await Promise.all([0, 1, 2, 3].map((index) => cluster.start(index, { startMode: "resume" })));
    cluster.nodes.forEach((node, index) => client.setPort(index, node!.port));
    for (const node of cluster.nodes) assert.ok(node!.report().finalHeight >= heightBefore);
    client.submit(nextTransfers(10, 2));
    await until(settled, "they order again");
    assert.deepEqual(cluster.failures, []);
  });

  it("one that lost everything fetches all blocks, and is let in by a new epoch", async () => {
    await cluster.stop(2);
    rmSync(path.join(cluster.directory, "replica-2"), { recursive: true });
    const node = await cluster.start(2, { startMode: "resume" });
    client.setPort(2, node.port);
    await until(() => node.report().mode === "active" && node.report().epoch > 0, "it is in");
    client.submit(nextTransfers(10, 1));
    await until(settled, "it votes and executes");
    assert.equal(node.report().execHeight, client.finalHeight);
  });

  it("one whose state is damaged makes it again from its blocks", async () => {
    await cluster.stop(0);
    truncateSync(path.join(cluster.directory, "replica-0", "state", "data.mdb"), 9_000);
    const node = await cluster.start(0, { startMode: "resume" });
    client.setPort(0, node.port);
    await until(() => node.report().execHeight === client.finalHeight, "all is executed again");
    client.submit(nextTransfers(5, 1));
    await until(settled, "its results are those of the others");
  });

  it("one whose log is damaged refuses to start, and comes back without it", async () => {
    await cluster.stop(1);
    damageLog(path.join(cluster.directory, "replica-1", "log"));
    await assert.rejects(cluster.start(1, { startMode: "resume", repair: "mend it" }), (error) => {
      assert.ok(error instanceof CodedError);
      assert.equal(error.code, "WAL_CORRUPT");
      assert.equal(error.data["repair"], "mend it");
      return true;
    });
    const node = await cluster.start(1, { startMode: "rejoin" });
    client.setPort(1, node.port);
    const { epoch } = cluster.nodes[3]!.report();
    await until(
      () => node.report().mode === "active" && node.report().epoch === epoch + 1,
      "a new epoch lets it in",
    );
    client.submit(nextTransfers(5, 1));
    await until(settled, "it votes and executes");
    assert.deepEqual(cluster.failures, []);
  });

  it("one whose blocks are damaged refuses to start, and fetches them again", async () => {
    await cluster.stop(3);
    const blocks = path.join(cluster.directory, "replica-3", "blocks", "data.mdb");
    truncateSync(blocks, 9_000);
    await assert.rejects(cluster.start(3, { startMode: "resume", repair: "mend it" }), (error) => {
      assert.ok(error instanceof CodedError);
      assert.equal(error.code, "BLOCK_STORE_DAMAGED");
      assert.equal(error.data["repair"], "mend it");
      return true;
    });
    const node = await cluster.start(3, { startMode: "rejoin" });
    client.setPort(3, node.port);
    await until(() => node.report().finalHeight === client.finalHeight, "it has all blocks");
    await until(() => node.report().mode === "active", "a new epoch lets it in");
    client.submit(nextTransfers(5, 1));
    await until(settled, "it votes and executes");
  });

  it("a second process on the same data is refused", async () => {
    await assert.rejects(cluster.start(0), { code: "DATA_DIRECTORY_IN_USE" });
  });

  it("old segments of the log go once their blocks are stored", async () => {
    // Each call is some 4 KiB: more than a segment of 1 MiB is written.
    const logPath = path.join(cluster.directory, "replica-3", "log");
    const firstSegment = segmentsOf(logPath).at(-1)!;
    for (let round = 0; round < 4; round++) {
      client.submit(
        Array.from({ length: 100 }, (_, at) => {
          const account = 10 + (at % 10);
          const nonce = nonces.get(account) ?? 0;
          nonces.set(account, nonce + 1);
          return transfer(account, nonce, 1n, new Uint8Array(4_000));
        }),
      );
      await until(() => client.waiting.size === 0, `round ${round} is final`);
    }
    await until(settled, "all is executed");
    const newest = segmentsOf(logPath).at(-1)!;
    assert.ok(newest > firstSegment, `${newest}: the log was rotated`);
    await until(() => segmentsOf(logPath).length === 1, "old segments are dropped");
    await cluster.stop(3);
    const node = await cluster.start(3, { startMode: "resume" });
    client.setPort(3, node.port);
    client.submit(nextTransfers(5, 1));
    await until(settled, "it starts from what is left");
  });
});

function segmentsOf(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => /^wal-\d+\.log$/.test(name))
    .sort();
}

/** Changes one byte of a record that later records say was durable. */
function damageLog(directory: string): void {
  const name = segmentsOf(directory).at(-1)!;
  const file = path.join(directory, name);
  const bytes = readFileSync(file);
  bytes[200]! ^= 0xff;
  writeFileSync(file, bytes);
}

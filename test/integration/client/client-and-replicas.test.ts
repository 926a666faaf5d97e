/** A client node with four real replicas in this process: real TLS, real disk, real consensus. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { ReplicaNode } from "../../../src/replica/replica-node.ts";
import { until } from "../../support/following-client.ts";
import {
  ACCOUNTS,
  HOST,
  replicaOptions,
  SILENT_LOGGER,
  transfer,
} from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "../../unit/client/client-nodes.ts";

describe("a client node with four replicas", () => {
  const directory = temporaryDirectory();
  const clientPath = path.join(directory.path, "client");
  const replicas: ReplicaNode[] = [];
  const failures: unknown[] = [];
  let node: ClientNode;

  const endpoints = (): { readonly host: string; readonly port: number }[] =>
    replicas.map(({ port }) => ({ host: HOST, port }));
  const start = async (index: number, startMode: "bootstrap" | "resume"): Promise<void> => {
    const dataPath = path.join(directory.path, `replica-${index}`);
    replicas[index] = await ReplicaNode.open(replicaOptions(index, dataPath, { startMode }), {
      logger: SILENT_LOGGER,
      onFatal: (error) => failures.push(error),
    });
  };
  const introduce = (): void => {
    replicas.forEach((replica, self) => {
      endpoints().forEach((endpoint, index) => {
        if (index !== self) replica.setEndpoint(index, endpoint);
      });
    });
  };
  const openNode = async (): Promise<void> => {
    const opened = await openClient(clientPath, undefined, { replicas: endpoints() });
    node = opened.node;
  };
  const submitAll = async (nonces: readonly number[]): Promise<void> => {
    const all = ACCOUNTS.flatMap((_, account) => nonces.map((nonce) => transfer(account, nonce)));
    const submitted = await Promise.all(all.map((bytes) => node.pending.submitRaw(bytes)));
    assert.ok(submitted.every(({ ok }) => ok));
  };
  const isDone = (): boolean => node.status().openTransactions === 0;

  before(async () => {
    mkdirSync(clientPath);
    await Promise.all([0, 1, 2, 3].map((index) => start(index, "bootstrap")));
    introduce();
    await openNode();
  });
  after(async () => {
    await node.close();
    await Promise.all(replicas.map((replica) => replica.close()));
    directory.remove();
  });

  it("gets what it promised into blocks that all agree on", async () => {
    await node.whenReady();
    await submitAll([0, 1, 2]);
    await until(isDone, "all are final and executed here");
    const latest = node.reads.latestBlock();
    const state = node.reads.stateAt(latest)!;
    for (const account of ACCOUNTS) assert.equal(state.nonce(account), 3n);
    assert.deepEqual(failures, []);
  });

  it("goes on while a replica is away, and after its own restart", async () => {
    await replicas[1]!.close();
    await submitAll([3, 4]);
    await node.close();
    await openNode();
    await until(isDone, "nothing that was promised is lost");
    await start(1, "resume");
    introduce();
    node.setEndpoint(1, endpoints()[1]!);
    await submitAll([5]);
    await until(isDone, "and on it goes");
    const state = node.reads.stateAt(node.reads.latestBlock())!;
    for (const account of ACCOUNTS) assert.equal(state.nonce(account), 6n);
    await until(() => node.isReady && node.status().upCount === 4, "all are there again");
  });
});

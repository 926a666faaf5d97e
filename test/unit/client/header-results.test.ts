/** A client node where fewer than f+1 replicas have the results of some heights. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { until } from "../../support/following-client.ts";
import { transfer } from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const WRONG = `0x${"77".repeat(32)}` as const;
/** More heights than are executed ahead of the published one as a rule. */
const JUMP = 60;

describe("results that final headers name", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode | undefined;

  beforeEach(async () => {
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
    for (const replica of network.replicas.slice(1)) replica.manner = { isSilentOnResults: true };
  });
  afterEach(async () => {
    await node?.close();
    await network.close();
    directory.remove();
  });

  const order = (count: number): void => {
    for (let done = 0; done < count; done++)
      network.chain.append([transfer(0, network.chain.height)]);
    network.stream();
  };
  const isUpTo = (height: number) => (): boolean => (node?.status().publishedHeight ?? 0) >= height;

  it("a client node syncs heights that one replica alone has results of", async () => {
    network.chain.namedBy = (height) => (height <= JUMP + 1 ? 0 : height - 2);
    order(JUMP + 20);
    const opened = await openClient(directory.path, network);
    ({ node } = opened);
    const named = JUMP + 18;
    await until(isUpTo(named), "all heights that a header names are published");
    assert.equal(node.status().publishedHeight, named, "the last two wait for signed results");
    assert.equal(node.reads.latestBlock().header.number, BigInt(named));
    network.replicas[2]!.vote(named + 1);
    network.replicas[2]!.vote(named + 2);
    await until(isUpTo(named + 2), "which publish them");
    assert.deepEqual(opened.failures, []);
  });

  it("a client node stops when a final header names another result than its own", async () => {
    network.chain.namedBy = (height) => Math.max(0, height - 2);
    network.chain.namedResult = (named) => (named === 0 ? network.chain.genesisResult : WRONG);
    order(5);
    const opened = await openClient(directory.path, network);
    ({ node } = opened);
    await until(() => opened.failures.length === 1, "it stops");
    const [failure] = opened.failures;
    assert.ok(failure instanceof CodedError);
    assert.equal(failure.code, "EXECUTION_DIVERGED");
    assert.equal(node.status().publishedHeight, 0);
  });
});

/** The whole network as processes, under load through ethrpc, while things go wrong. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { AcknowledgedLoad } from "../support/acknowledged-load.ts";
import { LooseNodes, REPLICAS } from "../support/processes/loose-nodes.ts";
import {
  runCommand,
  SERVICES,
  waitFor,
  type Service,
} from "../support/processes/network-process.ts";

const RESTART_PAUSE_MS = 300;
const HANG_MS = 10_000;
/** How long nothing may move before it counts as standing still. */
const STILL_MS = 1_000;
/** How long two replicas are watched deciding nothing. */
const NO_QUORUM_MS = 5_000;

describe("faults under load", () => {
  let nodes: LooseNodes;
  let load: AcknowledgedLoad;

  before(async () => {
    nodes = await LooseNodes.start(mkdtempSync(path.join(tmpdir(), "quorate-faults-")));
    load = new AcknowledgedLoad(nodes);
    await progress(1);
  });
  after(async () => {
    await load.stop();
    await nodes.close();
  });

  /** Until so many more blocks can be read; the milliseconds that it took. */
  const progress = async (blocks: number, timeoutMs = 30_000): Promise<number> => {
    const startMs = performance.now();
    const target = (await blockNumber()) + blocks;
    await waitFor(async () => (await blockNumber()) >= target, "the chain goes on", timeoutMs);
    return Math.round(performance.now() - startMs);
  };
  const publishedHeight = async (): Promise<number> => {
    const status = await nodes.health("client-0", "/status");
    return (status as { readonly publishedHeight: number }).publishedHeight;
  };
  const blockNumber = (): Promise<number> => nodes.blockNumber().catch(() => 0);
  const acknowledgedMore = (): Promise<void> => {
    const target = load.acknowledged.length + 10;
    return waitFor(() => load.acknowledged.length >= target, "transactions are accepted");
  };
  /** What was promised is there, and all replicas have the same state. */
  const settle = async (): Promise<void> => {
    await load.stop();
    await load.assertKept();
    const { execHeight } = await nodes.whenEqual();
    // It publishes only what it executed itself with a result that replicas signed.
    const isLevel = async (): Promise<boolean> => (await publishedHeight()) === execHeight;
    await waitFor(isLevel, `the client publishes height ${execHeight}`);
    load = new AcknowledgedLoad(nodes);
    await progress(1);
  };
  /** Until the replicas that are left decide nothing more and the client shows all of it. */
  const whenStill = async (): Promise<void> => {
    let last = "";
    const isStill = async (): Promise<boolean> => {
      const left = await Promise.all(REPLICAS.map((service) => nodes.standing(service)));
      const heights = left.flatMap((standing) => standing?.finalHeight ?? []);
      const published = await publishedHeight();
      const seen = JSON.stringify({ heights, published });
      const isSame = seen === last && published >= Math.max(...heights);
      last = seen;
      if (!isSame) await pause(STILL_MS);
      return isSame;
    };
    await waitFor(isStill, "what was decided is shown");
  };
  const restart = async (service: Service): Promise<void> => {
    await nodes.kill(service);
    nodes.run(service);
    await nodes.whenReady(service);
  };

  it("every node that is killed comes back, and no promise is broken", async () => {
    for (const service of SERVICES) {
      await restart(service);
      await acknowledgedMore();
    }
    await settle();
  });

  it("a leader that is killed is replaced", async () => {
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      const leader = await nodes.leader();
      const height = await blockNumber();
      await nodes.kill(leader);
      const startMs = performance.now();
      // What was ordered before may still come out: the third block is the new leader's.
      await waitFor(async () => (await blockNumber()) >= height + 3, "a new leader orders");
      times.push(Math.round(performance.now() - startMs));
      nodes.run(leader);
      await nodes.whenReady(leader);
    }
    console.log(`leader killed under load: next final blocks after ${times.join(", ")} ms`);
    await settle();
  });

  it("all five killed at once: the network goes on where it was", async () => {
    await acknowledgedMore();
    const height = await blockNumber();
    await Promise.all(SERVICES.map((service) => nodes.kill(service)));
    const startMs = performance.now();
    for (const service of SERVICES) nodes.run(service);
    await nodes.whenAllReady();
    console.log(`all killed: ready after ${Math.round(performance.now() - startMs)} ms`);
    assert.ok((await blockNumber()) >= height, "what could be read can still be read");
    await progress(3);
    await settle();
  });

  it("a replica that hangs for ten seconds does not stop the network and catches up", async () => {
    const victim = await nodes.leader();
    nodes.signal(victim, "SIGSTOP");
    const ms = await progress(3);
    console.log(`hanging leader: three more blocks after ${ms} ms`);
    await pause(HANG_MS - ms);
    await progress(3);
    nodes.signal(victim, "SIGCONT");
    await settle();
  });

  it("without a quorum nothing becomes final, and status says why", async () => {
    const [first, second] = REPLICAS.slice(2);
    await nodes.kill(first!);
    await nodes.kill(second!);
    // What three replicas had agreed on before may still become final and be shown.
    await whenStill();
    const height = await blockNumber();
    await pause(NO_QUORUM_MS);
    assert.equal(await blockNumber(), height, "two replicas decide nothing");
    const shown = await runCommand(["status", "--data", nodes.dataPath]);
    assert.equal(shown.code, 1);
    assert.match(shown.stdout, /no progress: 2 of 4 replicas are up, 3 are needed/);
    nodes.run(first!);
    await nodes.whenReady(first!);
    const ms = await progress(1);
    console.log(`a quorum again: next final block ${ms} ms after the third replica is up`);
    nodes.run(second!);
    await nodes.whenReady(second!);
    await settle();
  });

  it("all nodes restart one after the other without a failed transaction", async () => {
    for (const service of SERVICES) {
      await nodes.kill(service, "SIGTERM");
      await pause(RESTART_PAUSE_MS);
      nodes.run(service);
      await nodes.whenReady(service);
      await acknowledgedMore();
    }
    assert.deepEqual(load.refusals, []);
    await settle();
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

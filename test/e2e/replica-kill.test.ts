/** Replicas as processes that are killed without warning, under load. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { FollowingClient, until } from "../support/following-client.ts";
import { REPLICA_COUNT, transfer } from "../support/replica-network.ts";
import { ALL, ReplicaProcesses } from "./replica-processes.ts";

/** About 200 transactions per second: enough to be always under way, on a busy machine as well. */
const LOAD_INTERVAL_MS = 50;
const SENDERS = 10;
const WAITING_MAX = 500;
/** A second is the aim, and the figure is printed; a busy machine may take longer. */
const TAKEOVER_MAX_MS = 10_000;

describe("replicas that are killed under load", () => {
  const processes = new ReplicaProcesses();
  let client: FollowingClient;
  let load: NodeJS.Timeout | undefined;
  const nonces = Array.from({ length: SENDERS }, () => 0);

  const submitSome = (): void => {
    if (client.waiting.size > WAITING_MAX) return;
    client.submit(nonces.map((_, account) => transfer(account, nonces[account]!++)));
  };
  const finalAfter = async (height: number, what: string): Promise<number> => {
    const startMs = performance.now();
    await until(() => client.finalHeight > height, what);
    return Math.round(performance.now() - startMs);
  };

  before(async () => {
    await processes.choosePorts();
    await Promise.all(ALL.map((index) => processes.start(index, "bootstrap")));
    client = await FollowingClient.open(processes.ports);
    load = setInterval(submitSome, LOAD_INTERVAL_MS);
    await until(() => client.finalHeight > 20, "the network orders");
  });
  after(async () => {
    clearInterval(load);
    await client.close();
    await processes.close();
  });

  const leader = async (): Promise<number> => {
    client.reports.clear();
    client.ask({ kind: "statusRequest", nonce: 1 });
    await until(() => client.reports.size >= REPLICA_COUNT - 1, "replicas report");
    return [...client.reports.values()][0]!.leader;
  };

  it("a follower: the others go on, and it comes back", async () => {
    const victim = ((await leader()) + 1) % REPLICA_COUNT;
    await processes.kill(victim);
    const ms = await finalAfter(client.finalHeight + 1, "three replicas go on");
    console.log(`follower killed: two more blocks after ${ms} ms`);
    await processes.start(victim, "resume");
    const height = client.finalHeight;
    await until(() => client.results.get(height)?.has(victim) === true, "it executes again");
  });

  it("the leader: another one takes over", async () => {
    const victim = await leader();
    await processes.kill(victim);
    // What was on its way may still arrive; what comes after it is the new leader's.
    const ms = await finalAfter(client.finalHeight + 5, "a new leader orders");
    console.log(`leader killed: five more blocks after ${ms} ms`);
    assert.ok(ms < TAKEOVER_MAX_MS, `${ms} ms`);
    await processes.start(victim, "resume");
    const height = client.finalHeight;
    await until(() => client.results.get(height)?.has(victim) === true, "it executes again");
  });

  it("all at once: what was final is final, and the rest becomes so", async () => {
    const heightBefore = client.finalHeight;
    await Promise.all(ALL.map((index) => processes.kill(index)));
    const startMs = performance.now();
    await Promise.all(ALL.map((index) => processes.start(index, "resume")));
    const startedMs = Math.round(performance.now() - startMs);
    const ms = await finalAfter(Math.max(heightBefore, client.finalHeight), "they order again");
    console.log(`all killed: started in ${startedMs} ms, next final block ${ms} ms later`);
    // The client compares every block with what it received before.
    client.ask({ kind: "blocksRequest", fromHeight: 1, toHeight: heightBefore });
  });

  it("nothing is lost: all is ordered, and all replicas agree on every result", async () => {
    clearInterval(load);
    await until(() => client.waiting.size === 0, "all that was submitted is final");
    await until(() => client.isAgreed(client.finalHeight, REPLICA_COUNT), "all agree");
    const submitted = nonces.reduce((sum, nonce) => sum + nonce, 0);
    assert.equal(client.ordered.size, submitted);
    console.log(`${submitted} transactions in ${client.finalHeight} blocks`);
  });
});

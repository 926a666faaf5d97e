/** Replicas as processes that are killed without warning, under load. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { FollowingClient, until } from "../support/following-client.ts";
import { HOST, REPLICA_COUNT, transfer } from "../support/replica-network.ts";
import type { ReplicaProcessOptions } from "./replica-process.ts";

const ALL = [0, 1, 2, 3];
const SCRIPT = path.join(import.meta.dirname, "replica-process.ts");
/** About 200 transactions per second: enough to be always under way, on a busy machine as well. */
const LOAD_INTERVAL_MS = 50;
const SENDERS = 10;
const WAITING_MAX = 500;

class Processes {
  readonly #directory = mkdtempSync(path.join(tmpdir(), "quorate-kill-"));
  readonly #children = new Map<number, ChildProcess>();
  ports: readonly number[] = [];

  async choosePorts(): Promise<void> {
    this.ports = await Promise.all(ALL.map(freePort));
  }

  /** Resolves when it listens. */
  async start(index: number, startMode: ReplicaProcessOptions["startMode"]): Promise<void> {
    const dataPath = path.join(this.#directory, `replica-${index}`);
    const options: ReplicaProcessOptions = { index, dataPath, ports: this.ports, startMode };
    const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe"],
      // Compiled once for all starts: half of a start is reading the sources.
      env: { ...process.env, NODE_COMPILE_CACHE: path.join(this.#directory, "compiled") },
    });
    this.#children.set(index, child);
    child.stderr.on("data", (text: Buffer) => {
      if (process.env["REPLICA_LOG"] !== undefined)
        appendFileSync(process.env["REPLICA_LOG"], text);
    });
    const exited = once(child, "exit").then(([code]) => {
      throw new Error(`replica ${index} ended with ${String(code)}`);
    });
    await Promise.race([once(child.stdout, "data"), exited]);
    exited.catch(() => undefined);
  }

  /** Like the loss of the process: nothing is flushed, nobody is told. */
  async kill(index: number): Promise<void> {
    const child = this.#children.get(index);
    this.#children.delete(index);
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async close(): Promise<void> {
    await Promise.all(ALL.map((index) => this.kill(index)));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

describe("replicas that are killed under load", () => {
  const processes = new Processes();
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
    await Promise.all(ALL.map((index) => processes.start(index, "found")));
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
    assert.ok(ms < 3_000, `${ms} ms`);
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
    // The client compares every block with what it was told before.
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

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

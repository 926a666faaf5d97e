/**
 * Hostile input against ethrpc of a running network, over HTTP, WebSocket and plain sockets. The
 * client node must not die, hang, tell of its insides, or grow.
 */
import { once } from "node:events";
import { globSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import path from "node:path";
import { WebSocket } from "ws";
import { anonymousMegabytes } from "../../bench/network/process-usage.ts";
import { Prng } from "../../src/base/prng.ts";
import { startNetwork, type RunningNetwork } from "../support/processes/network-process.ts";
import { RpcInputs } from "./rpc-inputs.ts";

const HTTP_LANES = 8;
const SOCKET_LANES = 3;
const SLOW_LANES = 20;
/** The node gives up on its own long before. */
const ANSWER_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 10_000;
const PROBE_INTERVAL_MS = 1_000;
const FAILURES_MAX = 10;
/** What the heap may differ by from one look to another, with nothing kept. */
const GROWTH_MB_MAX = 200;
const WARM_UP_SHARE = 0.3;
/** A shorter run sees only how a node warms up. */
const MEMORY_SECONDS_MIN = 20;
const SETTLE_MS = 3_000;
const STATUSES: ReadonlySet<number> = new Set([
  ...[200, 204, 400, 403, 404, 405, 408, 413, 415, 429, 431, 503],
]);
/** A stack, a path, the name of a fault of ours, the code of an internal error. */
const INSIDES = /\n? {4}at |node:|file:\/\/|\.ts\b|TypeError|RangeError|-32603|internal error/;
const PATHS = ["/", "/standard", "/standard", "/", "/admin", "/%00", "/?a=b"];
const CONTENT_TYPES = ["application/json", "application/json", "application/json", "text/plain"];

type Options = { readonly seed: number; readonly seconds: number };

export async function fuzzRpc({ seed, seconds }: Options): Promise<number> {
  const network = await startNetwork({});
  const run = new RpcFuzz(network, seed, seconds);
  try {
    return await run.finish();
  } finally {
    await network.stop();
  }
}

class RpcFuzz {
  readonly #network: RunningNetwork;
  readonly #random: Prng;
  readonly #seconds: number;
  readonly #endMs: number;
  readonly #counts = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #port: number;
  readonly #methods = methodNames();
  #slowestProbeMs = 0;

  constructor(network: RunningNetwork, seed: number, seconds: number) {
    this.#network = network;
    this.#random = new Prng(seed);
    this.#seconds = seconds;
    this.#endMs = performance.now() + seconds * 1_000;
    this.#port = Number(new URL(network.url).port);
  }

  async finish(): Promise<number> {
    const pid = this.#network.pid("client-0")!;
    const memory = this.#watchMemory(pid);
    await Promise.all([
      ...Array.from({ length: HTTP_LANES }, () => this.#httpLane()),
      ...Array.from({ length: SOCKET_LANES }, () => this.#webSocketLane()),
      ...Array.from({ length: SLOW_LANES }, () => this.#slowLane()),
      this.#probeLane(pid),
    ]);
    await pause(SETTLE_MS);
    const { warmMb, mostMb } = await memory;
    const endMb = anonymousMegabytes(pid);
    const isWarm = this.#seconds >= MEMORY_SECONDS_MIN;
    if (isWarm && endMb > warmMb + GROWTH_MB_MAX)
      this.#fail(`memory grew: ${warmMb} MB to ${endMb} MB`);
    this.#report(warmMb, mostMb, endMb);
    return this.#failures.length === 0 ? 0 : 1;
  }

  #report(warmMb: number, mostMb: number, endMb: number): void {
    console.table(Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))));
    const megabytes = [warmMb, mostMb, endMb].map((value) => value.toFixed(0)).join(" / ");
    const probe = this.#slowestProbeMs.toFixed(0);
    console.log(`memory of the client node in MB: warm / most / end ${megabytes}`);
    console.log(`slowest answer to an honest caller: ${probe} ms`);
    for (const failure of this.#failures) console.log(`FAILED ${failure.slice(0, 1_000)}`);
    console.log(`${this.#failures.length} failures`);
  }

  #isOver(): boolean {
    return performance.now() > this.#endMs || this.#failures.length >= FAILURES_MAX;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #fail(what: string): void {
    this.#failures.push(what);
  }

  async #httpLane(): Promise<void> {
    const random = this.#random.fork();
    const inputs = new RpcInputs(random, this.#methods);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.#isOver()) {
      const { kind, body } = inputs.next();
      try {
        const { status, text } = await this.#post(agent, random, body);
        this.#count(`http ${kind}: ${status}`);
        if (!STATUSES.has(status) || INSIDES.test(text)) {
          this.#fail(
            `${kind} ${body.toString().slice(0, 300)} gave ${status} ${text.slice(0, 300)}`,
          );
        }
      } catch (error) {
        // A body that is too large is not read to its end: the connection may be reset.
        if (error instanceof Error && error.message === "hang") this.#fail(`${kind} hangs`);
        else this.#count(`http ${kind}: connection closed`);
      }
    }
    agent.destroy();
  }

  async #post(
    agent: Agent,
    random: Prng,
    body: Buffer,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const sent = request({
      ...{ host: "127.0.0.1", port: this.#port, agent, method: "POST" },
      path: random.pick(PATHS),
      headers: { "content-type": random.pick(CONTENT_TYPES), "content-length": body.length },
      timeout: ANSWER_TIMEOUT_MS,
    });
    // An answer may come before the body is sent: what then fails is no news.
    sent.on("error", () => undefined);
    sent.once("timeout", () => sent.destroy(new Error("hang")));
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, text };
  }

  async #webSocketLane(): Promise<void> {
    const random = this.#random.fork();
    const inputs = new RpcInputs(random, this.#methods);
    while (!this.#isOver()) {
      const socket = new WebSocket(
        `ws://127.0.0.1:${this.#port}${random.pick(["/", "/standard"])}`,
      );
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => {
        this.#count("websocket: answered");
        const text = data.toString();
        if (INSIDES.test(text)) this.#fail(`websocket: ${text.slice(0, 300)}`);
      });
      const closed = new Promise((resolve) => socket.once("close", resolve));
      await Promise.race([once(socket, "open").catch(() => undefined), closed]);
      for (let i = random.below(40); i >= 0 && socket.readyState === socket.OPEN; i--) {
        const { body } = inputs.next();
        socket.send(body, { binary: random.chance(0.3) });
        await pause(random.below(5));
      }
      // Bytes that are no frame.
      const raw = (socket as unknown as { _socket?: { write(bytes: Uint8Array): void } })._socket;
      if (random.chance(0.5)) raw?.write(random.bytes(1 + random.below(64)));
      this.#count("websocket: connections");
      await pause(20);
      if (random.chance(0.5)) socket.terminate();
      else socket.close();
      await Promise.race([closed, pause(ANSWER_TIMEOUT_MS)]);
      if (socket.readyState !== socket.CLOSED) this.#fail("a websocket does not close");
      await pause(10);
    }
  }

  /** Sends a byte now and then, or what is no HTTP, and looks at how it ends. */
  async #slowLane(): Promise<void> {
    const random = this.#random.fork();
    const head = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";
    while (!this.#isOver()) {
      const socket = connect(this.#port, "127.0.0.1");
      socket.on("error", () => undefined);
      let text = "";
      socket.on("data", (data) => (text += data.toString("latin1").slice(0, 1_000)));
      const closed = new Promise((resolve) => socket.once("close", resolve));
      const body = random.pick([
        head.slice(0, random.below(head.length)),
        `${head}content-length: 100\r\n\r\n{`,
        `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"id"`,
        `${head}content-length: 1\r\ncontent-length: 9\r\n\r\n{}`,
        `${head}x: ${"y".repeat(random.below(40_000))}\r\n\r\n`,
        `${head}${"a: b\r\n".repeat(random.below(300))}content-length: 2\r\n\r\n{}`,
        Buffer.from(random.bytes(random.below(500))).toString("latin1"),
      ]);
      socket.write(body, "latin1");
      for (let i = random.below(60); i >= 0 && !socket.closed && !this.#isOver(); i--) {
        socket.write(" ");
        await Promise.race([closed, pause(200)]);
      }
      const status = /^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? "no answer";
      this.#count(`plain socket: ${status}`);
      if (status === "500" || INSIDES.test(text)) this.#fail(`plain socket: ${text.slice(0, 300)}`);
      socket.destroy();
    }
  }

  /** Someone who asks an ordinary thing is answered all the while, by the same process. */
  async #probeLane(pid: number): Promise<void> {
    while (!this.#isOver()) {
      const startedMs = performance.now();
      try {
        const asked = this.#network.rpc("eth_blockNumber");
        const late = pause(PROBE_TIMEOUT_MS).then(() => Promise.reject(new Error("no answer")));
        await Promise.race([asked, late]);
      } catch (error) {
        this.#fail(`an honest caller: ${String(error)}`);
      }
      const tookMs = performance.now() - startedMs;
      this.#slowestProbeMs = Math.max(this.#slowestProbeMs, tookMs);
      if (this.#network.pid("client-0") !== pid) {
        this.#fail("the client node ended");
        return;
      }
      await pause(PROBE_INTERVAL_MS);
    }
  }

  async #watchMemory(pid: number): Promise<{ readonly warmMb: number; readonly mostMb: number }> {
    await pause(this.#seconds * 1_000 * WARM_UP_SHARE);
    const warmMb = anonymousMegabytes(pid);
    let mostMb = warmMb;
    while (!this.#isOver()) {
      await pause(PROBE_INTERVAL_MS);
      mostMb = Math.max(mostMb, anonymousMegabytes(pid));
    }
    return { warmMb, mostMb };
  }
}

/** One file per method: eth-get-balance.ts is eth_getBalance. */
function methodNames(): string[] {
  const folder = path.join(import.meta.dirname, "../../src/rpc/methods");
  return globSync("*/**/*.ts", { cwd: folder }).map((file) =>
    path
      .basename(file, ".ts")
      .replace("-", "_")
      .replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  );
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** What the nodes look like from outside while they are attacked: memory, stalls, health. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type RunningNetwork, SERVICES } from "../support/processes/network-process.ts";

export type WatchReport = {
  readonly clientMegabytes: number;
  readonly replicaMegabytes: number;
  /** Of the client node, some time after the attack. */
  readonly clientMegabytesAfter: number;
  /** Times of more than 50 ms in which the client's main thread answered nothing: all, and long. */
  readonly stallCount: number;
  readonly stallSeconds: number;
  /** Looks at /live and /ready of the client that failed or took more than a second. */
  readonly unhealthy: number;
  readonly blocks: number;
};

type Counters = { readonly stalls: number; readonly stalled: number };

const SAMPLE_MS = 250;
const HEALTH_MS_MAX = 1_000;

export class NetworkWatch {
  readonly #network: RunningNetwork;
  #timer: NodeJS.Timeout | undefined;
  #client = 0;
  #replica = 0;
  #unhealthy = 0;
  #before: Counters = { stalls: 0, stalled: 0 };
  #blockBefore = 0;
  #looks = 0;

  constructor(network: RunningNetwork) {
    this.#network = network;
  }

  async start(): Promise<void> {
    this.#before = await this.#counters();
    this.#blockBefore = await this.#blockNumber();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** `settled` resolves when the attack has been over for long enough. */
  async stop(settled: Promise<void>): Promise<WatchReport> {
    clearInterval(this.#timer);
    const after = await this.#counters();
    const blocks = (await this.#blockNumber()) - this.#blockBefore;
    await settled;
    return {
      clientMegabytes: this.#client,
      replicaMegabytes: this.#replica,
      clientMegabytesAfter: residentMegabytes(this.#network.pid("client-0")),
      stallCount: after.stalls - this.#before.stalls,
      stallSeconds: after.stalled - this.#before.stalled,
      unhealthy: this.#unhealthy,
      blocks,
    };
  }

  #sample(): void {
    for (const [service, pid] of this.#network.pids()) {
      const used = residentMegabytes(pid);
      if (service === "client-0") this.#client = Math.max(this.#client, used);
      else this.#replica = Math.max(this.#replica, used);
    }
    if (this.#looks++ % 4 !== 0) return;
    for (const place of ["/live", "/ready"]) {
      this.#isHealthy(place).then(
        (isHealthy) => (this.#unhealthy += isHealthy ? 0 : 1),
        () => this.#unhealthy++,
      );
    }
  }

  async #isHealthy(place: string): Promise<boolean> {
    const signal = AbortSignal.timeout(HEALTH_MS_MAX);
    const response = await fetch(`${this.#healthUrl()}${place}`, { signal });
    await response.arrayBuffer();
    return response.status === 200;
  }

  async #counters(): Promise<Counters> {
    const text = await (await fetch(`${this.#healthUrl()}/metrics`)).text();
    const sum = (name: string): number =>
      text
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    return {
      stalls: sum("quorate_client_stall_seconds_count"),
      stalled: sum("quorate_client_stall_seconds_sum"),
    };
  }

  async #blockNumber(): Promise<number> {
    return Number(await this.#network.rpc("eth_blockNumber"));
  }

  #healthUrl(): string {
    const file = path.join(this.#network.dataPath, "config", `${SERVICES[4]}.json`);
    const config = JSON.parse(readFileSync(file, "utf8")) as { health: { port: number } };
    return `http://127.0.0.1:${config.health.port}`;
  }
}

/** 0 while a node is down. */
function residentMegabytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

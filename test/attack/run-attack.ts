/** One attack, or several at once, on a running network, with an honest caller beside it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { RunningNetwork } from "../support/processes/network-process.ts";
import type { AttackOrder } from "./generator.ts";
import { HonestCaller, type HonestReport } from "./honest-caller.ts";
import { NetworkWatch, type WatchReport } from "./network-watch.ts";

export type AttackReport = HonestReport & WatchReport;

/** What must hold while a network is attacked. */
export type Promises = {
  readonly finalMsMax: number;
  readonly readMsMax: number;
  readonly clientMegabytesMax: number;
  readonly replicaMegabytesMax: number;
  /** Looks at /live and /ready that may fail. */
  readonly unhealthyMax: number;
  /** Of the client's main thread; undefined where the machine is not ours alone. */
  readonly stallSecondsMax: number | undefined;
};

const GENERATOR = new URL("./generator.ts", import.meta.url);
const PATIENCE_MS = 20_000;
/** After the attack, until memory is looked at again. */
const SETTLE_MS = 5_000;
/** Everything from the first transaction on is under attack. */
const HEAD_START_MS = 1_000;

export class AttackRun {
  readonly #network: RunningNetwork;
  #nonce = 0;

  constructor(network: RunningNetwork) {
    this.#network = network;
  }

  /** Without a name, only the honest caller: what the machine itself costs. */
  async run(names: readonly string[], seconds: number): Promise<AttackReport> {
    const { url, chainId, accounts } = this.#network;
    const [account] = accounts;
    if (account === undefined) throw new Error("the network has no account");
    const watch = new NetworkWatch(this.#network);
    const { privateKey } = account;
    const honest = new HonestCaller({
      ...{ url, chainId, privateKey, nonce: this.#nonce, patienceMs: PATIENCE_MS },
    });
    await watch.start();
    const endMs = Date.now() + HEAD_START_MS + seconds * 1_000;
    const attacks = names.map((name, index) => this.#attack(name, index, endMs));
    if (names.length > 0) await sleep(HEAD_START_MS);
    const report = await honest.run(seconds);
    this.#nonce = honest.nonce;
    await Promise.all(attacks);
    return { ...report, ...(await watch.stop(sleep(SETTLE_MS))) };
  }

  async #attack(name: string, index: number, endMs: number): Promise<void> {
    const { hostname: host, port } = new URL(this.#network.url);
    const child = fork(GENERATOR, { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const ended = once(child, "exit");
    const order: AttackOrder = {
      name,
      target: {
        ...{ host, port: Number(port), chainId: String(this.#network.chainId), endMs },
        localAddress: `127.0.0.${2 + (index % 200)}`,
      },
    };
    child.send(order);
    await ended;
  }
}

export function brokenPromises(report: AttackReport, promises: Promises): string[] {
  const { stallSecondsMax } = promises;
  const broken: string[] = [];
  const check = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what);
  };
  const slowest = Math.max(0, ...report.finalMs);
  const p99 = percentile(report.readMs, 0.99);
  check(slowest <= promises.finalMsMax, `a transaction took ${slowest.toFixed(0)} ms`);
  check(report.finalMs.length > 0, "no transaction became final");
  check(p99 <= promises.readMsMax, `reads took ${p99.toFixed(0)} ms (p99)`);
  check(
    report.refusals.length === 0,
    `${report.refusals.length} refusals: ${report.refusals[0] ?? ""}`,
  );
  check(
    report.unhealthy <= promises.unhealthyMax,
    `${report.unhealthy} times not live or not ready`,
  );
  check(report.blocks > 0, "the chain stood still");
  const { clientMegabytes, replicaMegabytes } = report;
  check(clientMegabytes <= promises.clientMegabytesMax, `client: ${clientMegabytes.toFixed(0)} MB`);
  check(
    replicaMegabytes <= promises.replicaMegabytesMax,
    `a replica: ${replicaMegabytes.toFixed(0)} MB`,
  );
  check(
    stallSecondsMax === undefined || report.stallSeconds <= stallSecondsMax,
    `the main thread was held up for ${report.stallSeconds.toFixed(2)} s`,
  );
  return broken;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

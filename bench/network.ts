/**
 * The whole network under load: five processes and the generator on this machine, transactions
 * signed beforehand by many senders and sent one by one through JSON-RPC.
 * `npm run bench -- network [seconds] [senders]`
 */
import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { startNetwork, type RunningNetwork } from "../test/support/network-process.ts";
import type { Order, Plan, Report, Transfers } from "./network/generator.ts";
import type { LoadResult, Pace } from "./network/load.ts";
import { percentile } from "./network/percentiles.ts";
import { anonymousMegabytes, cpuSeconds } from "./network/process-usage.ts";

const DEFAULT_SECONDS = 60;
const DEFAULT_SENDERS = 250;
const CONNECTIONS = 50;
const IN_FLIGHT = 2_000;
const LATENCY_SAMPLES = 300;
/** Signed for a run, per second of it: more than the network can take. */
const SIGNED_PER_SECOND = 5_000;
const OPEN_LOOP_SHARE = 0.7;

export async function printNetworkBench(args: readonly string[]): Promise<void> {
  const seconds = Number(args[0] ?? DEFAULT_SECONDS);
  const senderCount = Number(args[1] ?? DEFAULT_SENDERS);
  const network = await startNetwork({});
  const load = new LoadProcess();
  try {
    print(
      `${availableParallelism()} cores, ${senderCount} senders, ${CONNECTIONS} connections, ` +
        `${seconds} s each; ready after ${(network.readyMs / 1000).toFixed(2)} s`,
    );
    const [funder] = network.accounts;
    if (funder === undefined) throw new Error("the network has no account with coins");
    await load.prepare({
      url: network.url,
      chainId: String(network.chainId),
      funderKey: funder.privateKey,
      senderCount,
      connectionCount: CONNECTIONS,
    });
    for (const transfers of ["value", "erc20"] as const) {
      const latencies = await load.latencies(transfers, LATENCY_SAMPLES);
      print(
        `${title(transfers)}, one at a time, submit to receipt: ` +
          `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, ` +
          `p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
      );
      const closed: Pace = { kind: "closed", inFlight: IN_FLIGHT };
      const { perSecond } = await measure(network, load, transfers, closed, seconds);
      const open: Pace = { kind: "open", perSecond: Math.floor(perSecond * OPEN_LOOP_SHARE) };
      await measure(network, load, transfers, open, seconds);
    }
  } finally {
    load.end();
    await network.stop();
  }
}

async function measure(
  network: RunningNetwork,
  load: LoadProcess,
  transfers: Transfers,
  pace: Pace,
  seconds: number,
): Promise<LoadResult> {
  await load.sign(transfers, SIGNED_PER_SECOND * seconds);
  const before = new Map(services(network).map(([name, pid]) => [name, cpuSeconds(pid)]));
  const { result, cpuSeconds: loadCpu } = await load.run(pace, seconds);
  const how =
    pace.kind === "closed"
      ? `closed loop, ${pace.inFlight} in flight`
      : `open loop, ${pace.perSecond} per second`;
  print(
    `${title(transfers)}, ${how}: ${result.perSecond.toFixed(0)} final per second, ` +
      `latency p50 ${result.p50Ms.toFixed(0)} ms, p99 ${result.p99Ms.toFixed(0)} ms; ` +
      `${result.sent} sent, ${result.final} final`,
  );
  print(`  per second in each tenth: ${result.tenths.map((n) => n.toFixed(0)).join(" ")}`);
  const rows = services(network).map(([name, pid]) => {
    const used = cpuSeconds(pid) - (before.get(name) ?? 0);
    return usageRow(name, used, result, anonymousMegabytes(pid));
  });
  console.table([...rows, usageRow("load generator", loadCpu, result, undefined)]);
  return result;
}

function usageRow(
  name: string,
  used: number,
  { seconds, final }: LoadResult,
  megabytes: number | undefined,
): Readonly<Record<string, string>> {
  return {
    process: name,
    "CPU %": ((100 * used) / seconds).toFixed(0),
    "us per transaction": ((1e6 * used) / final).toFixed(0),
    "anonymous MB": megabytes?.toFixed(0) ?? "",
  };
}

function services(network: RunningNetwork): (readonly [string, number])[] {
  return [...network.pids()];
}

function title(transfers: Transfers): string {
  return transfers === "value" ? "value transfers" : "ERC-20 transfers";
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

class LoadProcess {
  readonly #child: ChildProcess = fork(new URL("./network/generator.ts", import.meta.url), {
    execArgv: [],
  });

  async prepare(plan: Plan): Promise<void> {
    await this.#ask({ kind: "prepare", plan });
  }

  async sign(transfers: Transfers, count: number): Promise<void> {
    await this.#ask({ kind: "sign", transfers, count });
  }

  async latencies(transfers: Transfers, count: number): Promise<readonly number[]> {
    const report = await this.#ask({ kind: "latency", transfers, count });
    return report.kind === "latencies" ? report.latencies : [];
  }

  async run(pace: Pace, seconds: number): Promise<Extract<Report, { readonly kind: "loaded" }>> {
    const report = await this.#ask({ kind: "load", pace, seconds });
    if (report.kind !== "loaded") throw new Error("the load gave no result");
    return report;
  }

  end(): void {
    if (this.#child.connected) this.#child.send({ kind: "end" } satisfies Order);
  }

  #ask(order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      this.#child.once("message", (report: Report) => {
        if (report.kind === "failed") reject(new Error(report.reason));
        else resolve(report);
      });
      this.#child.send(order);
    });
  }
}

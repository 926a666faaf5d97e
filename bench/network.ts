/**
 * The whole network under load: five processes and the generator on this machine, transactions
 * signed beforehand by many senders and sent through JSON-RPC, one by one or in batches.
 * `npm run bench -- network [--seconds N] [--senders N]`
 */
import { availableParallelism } from "node:os";
import { startNetwork, type RunningNetwork } from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import type { Transfers } from "./network/generator.ts";
import { LoadProcess } from "./network/load-process.ts";
import type { LoadResult, Pace } from "../src/cli/bench/load.ts";
import { percentile } from "../src/cli/bench/percentiles.ts";
import { anonymousMegabytes, cpuSeconds } from "./network/process-usage.ts";

export const PARAMETERS = {
  seconds: { kind: "number", fallback: 60, min: 1, isWhole: true, isPositional: true },
  senders: { kind: "number", fallback: 250, min: 1, isWhole: true, isPositional: true },
} as const;
const IN_FLIGHT = 1_000;
/** Back ends that speak for ten senders each and, as ethers does by itself, send in batches. */
const BATCH_MAX = 20;
const SENDERS_PER_BACK_END = 10;
/** Of the closed loop beforehand, until the engine has compiled what is used most. */
const WARM_UP_SECONDS = 10;
const LATENCY_SAMPLES = 300;
/** Signed for a run, per second of it: more than the network can take. */
const SIGNED_PER_SECOND = 3_500;
const OPEN_LOOP_SHARE = 0.7;

type Run = {
  readonly transfers: Transfers;
  readonly pace: Pace;
  readonly connectionCount: number;
  readonly seconds: number;
};

export async function printNetworkBench({
  seconds,
  senders: senderCount,
}: Values<typeof PARAMETERS>): Promise<void> {
  const network = await startNetwork({});
  const load = new LoadProcess();
  try {
    print(
      `${availableParallelism()} cores, ${senderCount} senders, ` +
        `${seconds} s each after ${WARM_UP_SECONDS} s of warming up; ` +
        `ready after ${(network.readyMs / 1000).toFixed(2)} s`,
    );
    await load.prepare(network, senderCount);
    const closed: Pace = { kind: "closed", inFlight: IN_FLIGHT, batchMax: 1 };
    const batched: Pace = { kind: "closed", inFlight: IN_FLIGHT, batchMax: BATCH_MAX };
    const backEndCount = Math.ceil(senderCount / SENDERS_PER_BACK_END);
    for (const transfers of ["value", "erc20"] as const) {
      const oneByOne = { transfers, connectionCount: senderCount, seconds };
      await sign(load, { ...oneByOne, pace: closed, seconds: WARM_UP_SECONDS });
      await load.run(closed, WARM_UP_SECONDS);
      const latencies = await load.latencies(transfers, LATENCY_SAMPLES);
      print(
        `${title(transfers)}, one at a time, submit to receipt: ` +
          `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, ` +
          `p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
      );
      const inBatches = { ...oneByOne, connectionCount: backEndCount };
      await measure(network, load, { ...inBatches, pace: batched });
      const { perSecond } = await measure(network, load, { ...oneByOne, pace: closed });
      const open: Pace = { kind: "open", perSecond: Math.floor(perSecond * OPEN_LOOP_SHARE) };
      await measure(network, load, { ...oneByOne, pace: open });
    }
  } finally {
    load.end();
    await network.stop();
  }
}

async function measure(network: RunningNetwork, load: LoadProcess, run: Run): Promise<LoadResult> {
  await sign(load, run);
  const before = new Map(services(network).map(([name, pid]) => [name, cpuSeconds(pid)]));
  const { result, cpuSeconds: loadCpu } = await load.run(run.pace, run.seconds);
  print(
    `${title(run.transfers)}, ${describe(run)}: ${result.perSecond.toFixed(0)} final per second, ` +
      `latency p50 ${result.p50Ms.toFixed(0)} ms, p99 ${result.p99Ms.toFixed(0)} ms; ` +
      `${result.sent} sent, ${result.final} final`,
  );
  print(`  per second in each tenth: ${result.tenths.map((n) => n.toFixed(0)).join(" ")}`);
  print(
    `  ${(result.blocks / result.seconds).toFixed(0)} blocks per second, ` +
      `longest pause between two ${result.pauseMaxMs.toFixed(0)} ms`,
  );
  const rows = services(network).map(([name, pid]) => {
    const used = cpuSeconds(pid) - (before.get(name) ?? 0);
    return usageRow(name, used, result, anonymousMegabytes(pid));
  });
  console.table([...rows, usageRow("load generator", loadCpu, result, undefined)]);
  return result;
}

function sign(load: LoadProcess, { transfers, connectionCount, seconds }: Run): Promise<void> {
  return load.sign(transfers, SIGNED_PER_SECOND * seconds, connectionCount);
}

function describe({ pace, connectionCount }: Run): string {
  const connections = `over ${connectionCount} connections`;
  if (pace.kind === "open") return `open loop, ${pace.perSecond} per second ${connections}`;
  const how = pace.batchMax === 1 ? "one by one" : `in batches of up to ${pace.batchMax}`;
  return `closed loop, ${pace.inFlight} in flight, ${how} ${connections}`;
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

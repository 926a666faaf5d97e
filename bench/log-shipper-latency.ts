/**
 * What a log endpoint that never answers costs callers of a real network: two networks side by
 * side, the logs of one at level debug and on their way to nowhere. Five interleaved runs each; the
 * medians are compared.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { startNetwork, type RunningNetwork } from "../test/support/network-process.ts";
import { measureLatency } from "./network/load.ts";
import { percentile } from "./network/percentiles.ts";
import { createSenders, signNext } from "./network/senders.ts";

const RUNS = 5;
const TRANSACTIONS = 150;
const WARM_UP = 300;

export async function printShipperLatency(): Promise<void> {
  const silent = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-shipper-"));
  const networks: RunningNetwork[] = [];
  try {
    for (const url of [undefined, `http://127.0.0.1:${address.port}`]) {
      networks.push(await startLogging(path.join(directory, String(networks.length)), url));
    }
    const [sender] = createSenders(1);
    if (sender === undefined) return;
    const nonces = [0n, 0n];
    const samples: [number[][], number[][]] = [[], []];
    for (let run = -1; run < RUNS; run++) {
      for (const which of [0, 1] as const) {
        const network = networks[which];
        if (network === undefined) return;
        sender.nonce = nonces[which] ?? 0n;
        const count = run < 0 ? WARM_UP : TRANSACTIONS;
        const call = { to: 1n, value: 0n, data: new Uint8Array(0), gasLimit: 21_000n };
        const signed = Array.from({ length: count }, () => signNext(sender, network.chainId, call));
        nonces[which] = sender.nonce;
        const latencies = await measureLatency(network.url, signed);
        if (run >= 0) samples[which].push([...latencies]);
      }
    }
    console.table({ without: medians(samples[0]), "with a silent endpoint": medians(samples[1]) });
  } finally {
    for (const network of networks) await network.stop();
    silent.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** At level debug: every transaction makes log lines on every node. */
async function startLogging(dataPath: string, url: string | undefined): Promise<RunningNetwork> {
  const made = await startNetwork({ dataPath });
  await made.stop();
  const folder = path.join(dataPath, "config");
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const config = JSON.parse(readFileSync(file, "utf8")) as object;
    const endpoint = url === undefined ? {} : { endpoint_1: { url } };
    writeFileSync(file, JSON.stringify({ ...config, log: { level: "debug", ...endpoint } }));
  }
  return startNetwork({ dataPath });
}

function medians(runs: readonly (readonly number[])[]): Readonly<Record<string, string>> {
  const at = (rank: number): string => {
    const values = runs.map((run) => percentile(run, rank));
    return `${percentile(values, 0.5).toFixed(1)} ms`;
  };
  return { p50: at(0.5), p99: at(0.99) };
}

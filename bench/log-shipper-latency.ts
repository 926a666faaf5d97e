/**
 * What a log endpoint that never answers costs callers of a real network: two networks side by
 * side, both with logs at level debug, those of one on their way to nowhere. One transaction at a
 * time, to its receipt, in five interleaved runs each; p99 of the one, the median of its runs, may
 * be 20 % above that of the other. `npm run bench -- log-shipper-latency [--seconds N]`, for each run,
 * ends with 1 where it is more.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import {
  type RunningNetwork,
  SERVICES,
  startNetwork,
} from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import { measureLatency } from "../src/cli/bench/load.ts";
import { percentile } from "../src/cli/bench/percentiles.ts";
import {
  createSenders,
  type BenchSender,
  type SignedTransaction,
  signNext,
} from "../src/cli/bench/senders.ts";

const RUNS = 5;
export const PARAMETERS = {
  // With starts and stops, all of it then takes less than four minutes.
  seconds: { kind: "number", fallback: 15, min: 1, isPositional: true },
} as const;
const WARM_UP_SECONDS = 10;
const RATIO_MAX = 1.2;
/** Fewer in a run have no p99. */
const SAMPLES_MIN = 100;

const CALL = { to: 1n, value: 0n, data: new Uint8Array(0), gasLimit: 21_000n };

type Subject = {
  readonly network: RunningNetwork;
  readonly sender: BenchSender;
  readonly runs: (readonly number[])[];
};

export async function printShipperLatency({ seconds }: Values<typeof PARAMETERS>): Promise<number> {
  const endpoint = await SilentEndpoint.open();
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-shipper-"));
  const subjects: Subject[] = [];
  try {
    for (const url of [undefined, endpoint.url]) {
      const network = await startLogging(path.join(directory, String(subjects.length)), url);
      const [sender] = createSenders(1);
      if (sender === undefined) throw new Error("there is no sender");
      subjects.push({ network, sender, runs: [] });
    }
    for (const subject of subjects) await measure(subject, WARM_UP_SECONDS);
    for (let run = 0; run < RUNS; run++) {
      // Each goes first in turn: what the machine does besides grows on both alike.
      for (const subject of run % 2 === 0 ? subjects : subjects.toReversed()) {
        subject.runs.push(await measure(subject, seconds));
      }
    }
  } finally {
    for (const { network } of subjects) await network.stop();
    endpoint.close();
    rmSync(directory, { recursive: true, force: true });
  }
  print(
    `${availableParallelism()} cores, ${RUNS} runs of ${seconds} s each; the endpoint got ` +
      `${(endpoint.size / 1024).toFixed(0)} KiB in ${endpoint.connections} connections`,
  );
  // Else both networks were the same, and the comparison says nothing.
  if (endpoint.connections < SERVICES.length || endpoint.size === 0) {
    print("NO VERDICT: not every node sent lines to the endpoint");
    return 1;
  }
  return judge(subjects);
}

function judge([without, withEndpoint]: readonly Subject[]): number {
  const rows = { without: without?.runs ?? [], "with a silent endpoint": withEndpoint?.runs ?? [] };
  const fewest = Math.min(...Object.values(rows).flatMap((runs) => runs.map((run) => run.length)));
  for (const [name, runs] of Object.entries(rows)) {
    const each = runs.map((run) => percentile(run, 0.99).toFixed(1)).join(", ");
    print(
      `${name}: p50 ${medianOf(runs, 0.5).toFixed(1)} ms, p99 ${medianOf(runs, 0.99).toFixed(1)} ms ` +
        `(medians; p99 of each run: ${each})`,
    );
  }
  if (fewest < SAMPLES_MIN) {
    print(`NO VERDICT: a run had ${fewest} transactions, p99 takes ${SAMPLES_MIN}`);
    return 1;
  }
  const ratio = medianOf(rows["with a silent endpoint"], 0.99) / medianOf(rows.without, 0.99);
  const isHeld = ratio <= RATIO_MAX;
  const figure = `p99 with the endpoint is ${ratio.toFixed(2)} of that without`;
  print(`${isHeld ? "HELD" : "MISSED"}: ${figure}, at most ${RATIO_MAX.toFixed(2)} is allowed`);
  return isHeld ? 0 : 1;
}

function measure({ network, sender }: Subject, seconds: number): Promise<readonly number[]> {
  return measureLatency(network.url, signUntil(performance.now() + 1_000 * seconds));

  /** Signed between two measurements, so that no nonce is used up that is not sent. */
  function* signUntil(endMs: number): Generator<SignedTransaction> {
    while (performance.now() < endMs) yield signNext(sender, network.chainId, CALL);
  }
}

/** At level debug: every transaction makes log lines on every node. */
async function startLogging(dataPath: string, url: string | undefined): Promise<RunningNetwork> {
  const made = await startNetwork({ dataPath });
  await made.stop();
  const folder = path.join(dataPath, "config");
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const config = JSON.parse(readFileSync(file, "utf8")) as { readonly log?: object };
    const endpoint = url === undefined ? {} : { endpoint_1: { url } };
    const log = { ...config.log, level: "debug", ...endpoint };
    writeFileSync(file, JSON.stringify({ ...config, log }));
  }
  return startNetwork({ dataPath });
}

/** Takes all that is sent and never says a word. */
class SilentEndpoint {
  readonly url: string;
  connections = 0;
  size = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    server.on("connection", (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => (this.size += bytes.length));
    });
  }

  static async open(): Promise<SilentEndpoint> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the server has no port");
    return new SilentEndpoint(server, address.port);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

function medianOf(runs: readonly (readonly number[])[], rank: number): number {
  return percentile(
    runs.map((run) => percentile(run, rank)),
    0.5,
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * What sending logs costs a node: small pieces of work, each with a log line, without a shipper and
 * with one whose endpoint never answers. Five interleaved runs each; the medians are compared.
 */
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLoggers } from "../src/logging/create-logger.ts";
import { Shipper } from "../src/logging/shipper.ts";

const RUNS = 5;
const PIECES = 4_000;
const LINES_PER_SECOND = 2_000;
const SILENT_SERVER =
  "require('net').createServer(s=>{s.on('error',()=>{});s.resume()})" +
  ".listen(0,'127.0.0.1',function(){console.log(this.address().port)})";

export async function printShipperCost(): Promise<void> {
  const server = spawn(process.execPath, ["-e", SILENT_SERVER]);
  const port = await new Promise<string>((resolve) =>
    server.stdout.once("data", (text: Buffer) => resolve(text.toString().trim())),
  );
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-bench-"));
  const without: Quantiles[] = [];
  const withOne: Quantiles[] = [];
  try {
    for (let run = 0; run < RUNS; run += 1) {
      without.push(await measure(undefined));
      const endpoint = { name: "endpoint_1", username: undefined, password: undefined };
      const url = `http://127.0.0.1:${port}`;
      const spoolDirectory = path.join(directory, String(run));
      const shipper = new Shipper({ endpoints: [{ ...endpoint, url }], spoolDirectory });
      withOne.push(await measure(shipper));
      await shipper.close(0);
    }
  } finally {
    server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
  console.table({ without: medians(without), "with a silent endpoint": medians(withOne) });
}

type Quantiles = { readonly p50: number; readonly p99: number };

/** Microseconds of a piece, at a pace that leaves the processor idle in between. */
async function measure(shipper: Shipper | undefined): Promise<Quantiles> {
  const origin = { blockchainId: "bench", serviceName: "replica-0", nodeId: "replica-0" };
  const writer = { write: (text: string): void => shipper?.write(text) };
  const logger = createLoggers({ level: "info", origin }, { writer })("bench");
  const block = Buffer.alloc(64 * 1024, 7);
  const times: number[] = [];
  const startedMs = performance.now();
  for (let piece = 0; piece < PIECES; piece += 1) {
    const begunMs = performance.now();
    const hash = createHash("sha256").update(block).digest("hex");
    logger.info("block final", { height: piece, hash });
    times.push((performance.now() - begunMs) * 1_000);
    const dueMs = startedMs + (piece * 1_000) / LINES_PER_SECOND;
    if (performance.now() < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  times.sort((a, b) => a - b);
  return { p50: times[PIECES / 2] ?? 0, p99: times[Math.floor(PIECES * 0.99)] ?? 0 };
}

function medians(runs: readonly Quantiles[]): Readonly<Record<string, string>> {
  const median = (pick: (run: Quantiles) => number): string => {
    const values = runs.map(pick).sort((a, b) => a - b);
    return `${(values[Math.floor(values.length / 2)] ?? 0).toFixed(0)} us`;
  };
  return { p50: median(({ p50 }) => p50), p99: median(({ p99 }) => p99) };
}

/**
 * Sends signed transactions and waits until they are final. Closed loop: a fixed number is under
 * way. Open loop: a fixed number is sent each second, whatever comes back.
 */
import { FinalityWatch } from "./finality-watch.ts";
import { percentile } from "./percentiles.ts";
import { RpcConnection } from "./rpc-connection.ts";
import type { SignedTransaction } from "./senders.ts";

export type Pace =
  | { readonly kind: "closed"; readonly inFlight: number }
  | { readonly kind: "open"; readonly perSecond: number };

export type LoadResult = {
  readonly sent: number;
  readonly final: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Final transactions in each tenth of the run: whether it was sustained. */
  readonly tenths: readonly number[];
};

const DRAIN_MS = 30_000;
const TURN_MS = 2;

/** `queues` holds the transactions of each connection in the order in which they must go. */
export async function runLoad(
  url: string,
  queues: readonly (readonly SignedTransaction[])[],
  pace: Pace,
  seconds: number,
): Promise<LoadResult> {
  const connections = await Promise.all(queues.map(() => RpcConnection.open(url)));
  const watcher = await RpcConnection.open(url);
  const sentAtMs = new Map<string, number>();
  const latencies: number[] = [];
  const finalAtMs: number[] = [];
  let sent = 0;
  const watch = await FinalityWatch.start(watcher, (hashes, atMs) => {
    for (const hash of hashes) {
      const startMs = sentAtMs.get(hash);
      if (startMs === undefined) continue;
      sentAtMs.delete(hash);
      latencies.push(atMs - startMs);
      finalAtMs.push(atMs);
    }
  });
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const mayGo = (): boolean => {
    if (pace.kind === "closed") return sentAtMs.size < pace.inFlight;
    return sent < (pace.perSecond * (performance.now() - startMs)) / 1000;
  };
  await Promise.all(
    connections.map(async (connection, index) => {
      for (const { hash, raw } of queues[index] ?? []) {
        while (!mayGo() && performance.now() < endMs) await turn();
        if (performance.now() >= endMs) return;
        sent++;
        sentAtMs.set(hash, performance.now());
        await connection.call("eth_sendRawTransaction", [raw]);
      }
      if (performance.now() < endMs) throw new Error("too few transactions were signed");
    }),
  );
  while (sentAtMs.size > 0 && performance.now() < endMs + DRAIN_MS) await turn();
  await watch.stop();
  for (const connection of [...connections, watcher]) connection.close();
  return summarize(sent, latencies, finalAtMs, { startMs, endMs });
}

function summarize(
  sent: number,
  latencies: readonly number[],
  finalAtMs: readonly number[],
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): LoadResult {
  const inTime = finalAtMs.filter((atMs) => atMs <= endMs);
  const seconds = (endMs - startMs) / 1000;
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const atMs of inTime) {
    const tenth = Math.min(9, Math.floor((10 * (atMs - startMs)) / (endMs - startMs)));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  return {
    sent,
    final: finalAtMs.length,
    seconds,
    perSecond: inTime.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    tenths: tenths.map((count) => (10 * count) / seconds),
  };
}

/** One after the other, each until its receipt is there; the next is drawn only then. */
export async function measureLatency(
  url: string,
  transactions: Iterable<SignedTransaction>,
): Promise<readonly number[]> {
  const connection = await RpcConnection.open(url);
  const latencies: number[] = [];
  for (const { hash, raw } of transactions) {
    const startMs = performance.now();
    await connection.call("eth_sendRawTransaction", [raw]);
    while ((await connection.call("eth_getTransactionReceipt", [hash])) === null) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    latencies.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  connection.close();
  return latencies;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TURN_MS));
}

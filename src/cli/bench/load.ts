/**
 * Sends signed transactions and waits until they are final. Closed loop: a fixed number is under
 * way, and each connection sends up to `batchMax` of them in one request. Open loop: a fixed number
 * is sent each second, one per request, whatever comes back.
 */
import { FinalityWatch } from "./finality-watch.ts";
import { percentile } from "./percentiles.ts";
import { Permits } from "./permits.ts";
import { RpcConnection, type RpcTarget } from "./rpc-connection.ts";
import type { SignedTransaction } from "./senders.ts";

export type Pace =
  | { readonly kind: "closed"; readonly inFlight: number; readonly batchMax: number }
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
  readonly blocks: number;
  /** The longest time without a final block. */
  readonly pauseMaxMs: number;
};

type Final = { readonly atMs: number; readonly latencies: readonly number[] };

const DRAIN_MS = 30_000;
const TURN_MS = 2;
const RETRY_MS = 50;

export type LoadWatch = {
  /** Told of every final block with transactions of this load. */
  readonly onFinal?: (count: number) => void;
  /** Told of what a node refused; the same transactions are sent again until the time is over.
   * Without it, the first refusal ends the load. */
  readonly onRefusal?: (reason: string) => void;
};

/** `queues` holds the transactions of each connection in the order in which they must go. */
export async function runLoad(
  url: RpcTarget | string,
  queues: readonly (readonly SignedTransaction[])[],
  pace: Pace,
  seconds: number,
  { onFinal, onRefusal }: LoadWatch = {},
): Promise<LoadResult> {
  const connections = await Promise.all(queues.map(() => RpcConnection.open(url)));
  const watcher = await RpcConnection.open(url);
  const sentAtMs = new Map<string, number>();
  const finals: Final[] = [];
  const permits = new Permits();
  const batchMax = pace.kind === "closed" ? pace.batchMax : 1;
  let sent = 0;
  const watch = await FinalityWatch.start(watcher, (hashes, atMs) => {
    const latencies: number[] = [];
    for (const hash of hashes) {
      const sentMs = sentAtMs.get(hash);
      if (sentMs === undefined) continue;
      sentAtMs.delete(hash);
      latencies.push(atMs - sentMs);
    }
    finals.push({ atMs, latencies });
    if (latencies.length > 0) onFinal?.(latencies.length);
    if (pace.kind === "closed") permits.give(latencies.length);
  });
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const pacing = givePermits(permits, pace, { startMs, endMs });
  await Promise.all(
    connections.map(async (connection, index) => {
      const queue = queues[index] ?? [];
      for (let next = 0; next < queue.length;) {
        const batch = queue.slice(next, next + (await permits.take(batchMax)));
        const nowMs = performance.now();
        if (nowMs >= endMs) return;
        next += batch.length;
        sent += batch.length;
        for (const { hash } of batch) sentAtMs.set(hash, nowMs);
        const bodies = batch.map(({ body }) => body);
        if (onRefusal === undefined) await connection.sendAll(bodies);
        else await sendUntilTaken(connection, bodies, endMs, onRefusal);
      }
      if (performance.now() < endMs) throw new Error("too few transactions were signed");
    }),
  );
  await pacing;
  while (sentAtMs.size > 0 && performance.now() < endMs + DRAIN_MS) await turn();
  await watch.stop();
  for (const connection of [...connections, watcher]) connection.close();
  return summarize(sent, finals, { startMs, endMs });
}

/** A node takes what it has already as taken, so the whole batch may go again. */
async function sendUntilTaken(
  connection: RpcConnection,
  bodies: readonly string[],
  endMs: number,
  onRefusal: (reason: string) => void,
): Promise<void> {
  while (performance.now() < endMs) {
    try {
      await connection.sendAll(bodies);
      return;
    } catch (error) {
      if (connection.isClosed) throw error;
      onRefusal(error instanceof Error ? error.message : String(error));
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** At the end everyone gets one, to see that it is over. */
async function givePermits(
  permits: Permits,
  pace: Pace,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Promise<void> {
  let given = pace.kind === "closed" ? pace.inFlight : 0;
  permits.give(given);
  while (performance.now() < endMs) {
    await turn();
    if (pace.kind === "closed") continue;
    const due = Math.floor((pace.perSecond * (performance.now() - startMs)) / 1000);
    permits.give(due - given);
    given = due;
  }
  permits.give(Infinity);
}

function summarize(
  sent: number,
  finals: readonly Final[],
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): LoadResult {
  const seconds = (endMs - startMs) / 1000;
  const inTime = finals.filter(({ atMs }) => atMs <= endMs);
  const tenths = Array.from({ length: 10 }, () => 0);
  let count = 0;
  let pauseMaxMs = 0;
  let lastMs = startMs;
  for (const { atMs, latencies } of inTime) {
    const tenth = Math.min(9, Math.floor((10 * (atMs - startMs)) / (endMs - startMs)));
    tenths[tenth] = (tenths[tenth] ?? 0) + latencies.length;
    count += latencies.length;
    pauseMaxMs = Math.max(pauseMaxMs, atMs - lastMs);
    lastMs = atMs;
  }
  const latencies = finals.flatMap((final) => final.latencies);
  return {
    sent,
    final: latencies.length,
    seconds,
    perSecond: count / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    tenths: tenths.map((tenth) => (10 * tenth) / seconds),
    blocks: inTime.length,
    pauseMaxMs,
  };
}

/** One after the other, each until its receipt is there; the next is drawn only then. */
export async function measureLatency(
  url: RpcTarget | string,
  transactions: Iterable<SignedTransaction>,
): Promise<readonly number[]> {
  const connection = await RpcConnection.open(url);
  const latencies: number[] = [];
  for (const { hash, body } of transactions) {
    const startMs = performance.now();
    await connection.send(body);
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

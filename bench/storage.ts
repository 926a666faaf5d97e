/** What the disk costs: the log's latency and throughput, and how fast a node starts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Prng } from "../src/base/prng.ts";
import { sha256 } from "../src/crypto/sha256.ts";
import { BlockStore } from "../src/storage/block-store.ts";
import { StateStore } from "../src/storage/state-store.ts";
import { Wal } from "../src/storage/wal.ts";

const RECORD_BYTES = 700;
const LONE_SYNCS = 1_000;
const CALLERS = 64;
const GROUP_ROUNDS = 100;
const BLOCK_COUNT = 100_000;
const BLOCK_BYTES = 300;
const BLOCKS_PER_FLUSH = 1_000;
const STATE_COMMITS = 30;
const STATE_KEYS = 1_000;
const NO_RESERVE = { freeBytesMin: 0 };

export async function benchStorage(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-bench-"));
  console.log("| storage | figure |");
  console.log("|---|---:|");
  try {
    await benchWal(path.join(directory, "wal"));
    await benchBlocks(path.join(directory, "blocks"));
    await benchState(path.join(directory, "state"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function benchWal(directory: string): Promise<void> {
  const options = { repair: "none" };
  const opened = await timed(() => Wal.open(directory, options));
  row("log: first start, 64 MiB filled", `${opened.ms.toFixed(0)} ms`);
  const { wal } = opened.value;
  const record = new Prng(1).bytes(RECORD_BYTES);
  const latencies: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let each = 0; each < LONE_SYNCS; each++) {
    wal.append(record);
    latencies.push((await timed(() => wal.sync())).ms);
  }
  row("log: append + sync, one caller", `${quantiles(latencies)}, ${cpu(cpuBefore, LONE_SYNCS)}`);
  const grouped: number[] = [];
  const total = CALLERS * GROUP_ROUNDS;
  const groupCpu = process.cpuUsage();
  const { ms } = await timed(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let round = 0; round < GROUP_ROUNDS; round++) {
          wal.append(record);
          grouped.push((await timed(() => wal.sync())).ms);
        }
      }),
    ),
  );
  const rate = `${((total / ms) * 1000).toFixed(0)} records/s`;
  row(`log: ${CALLERS} callers`, `${rate}, ${quantiles(grouped)}, ${cpu(groupCpu, total)}`);
  while (wal.fill < 0.95) {
    for (let each = 0; each < 1_000; each++) wal.append(record);
    await wal.sync();
  }
  const rotated = await timed(() => wal.startSegment(record));
  row("log: new segment, no spare", `${rotated.ms.toFixed(0)} ms`);
  await wal.close();
  const again = await timed(() => Wal.open(directory, options));
  const count = `${again.value.records.length} records`;
  row("log: open with two segments", `${again.ms.toFixed(0)} ms for ${count}`);
  await again.value.wal.startSegment(record);
  await again.value.wal.dropBefore(again.value.wal.segmentId);
  const recycled = await timed(() => again.value.wal.startSegment(record));
  row("log: new segment, recycled", `${recycled.ms.toFixed(1)} ms`);
  await again.value.wal.close();
}

async function benchBlocks(directory: string): Promise<void> {
  const store = await BlockStore.open(directory, { ...NO_RESERVE, flushDelayMs: 60_000 });
  const prng = new Prng(2);
  const block = prng.bytes(BLOCK_BYTES);
  const receipts = prng.bytes(BLOCK_BYTES);
  const number = new Uint8Array(4);
  const hashOf = (value: number): Uint8Array => {
    new DataView(number.buffer).setUint32(0, value);
    return sha256(number);
  };
  const before = process.cpuUsage();
  const { ms } = await timed(async () => {
    for (let height = 1; height <= BLOCK_COUNT; height++) {
      store.append(height, { block, certificate: block });
      const indexes = { blockHash: hashOf(height), transactionHashes: [hashOf(-height)] };
      store.attach(height, { result: indexes.blockHash, ethereumBlock: block, receipts }, indexes);
      if (height % BLOCKS_PER_FLUSH === 0) await store.flush();
    }
  });
  const each = `${((ms * 1000) / BLOCK_COUNT).toFixed(0)} us each`;
  row(`blocks: append ${BLOCK_COUNT}, all tables`, `${each}, ${cpu(before, BLOCK_COUNT)}`);
  await store.close();
  const opened = await timed(() => BlockStore.open(directory, NO_RESERVE));
  row(`blocks: open with ${BLOCK_COUNT}`, `${opened.ms.toFixed(1)} ms`);
  const range = await timed(() =>
    Promise.resolve([...opened.value.range(BLOCK_COUNT / 2, BLOCK_COUNT, 4_000_000)].length),
  );
  row("blocks: read a range", `${((range.ms * 1000) / range.value).toFixed(1)} us each`);
  await opened.value.close();
}

async function benchState(directory: string): Promise<void> {
  const store = await StateStore.open(directory, NO_RESERVE);
  const prng = new Prng(3);
  const latencies: number[] = [];
  const keys: Uint8Array[] = [];
  const before = process.cpuUsage();
  for (let height = 1; height <= STATE_COMMITS; height++) {
    const changes = Array.from({ length: STATE_KEYS }, () => ({
      key: prng.bytes(33),
      value: prng.bytes(80),
    }));
    for (const { key } of changes) keys.push(key);
    const startedMs = performance.now();
    store.write(changes, height);
    latencies.push(performance.now() - startedMs);
  }
  const figures = `${quantiles(latencies)}, ${cpu(before, STATE_COMMITS)}`;
  row(`state: commit ${STATE_KEYS} keys`, figures);
  const reads = await timed(() => Promise.resolve(keys.map((key) => store.get(key)?.length)));
  row("state: get", `${((reads.ms * 1000) / keys.length).toFixed(1)} us`);
  const seeks = await timed(() => Promise.resolve(keys.map((key) => store.seek(key)?.key.length)));
  row("state: seek", `${((seeks.ms * 1000) / keys.length).toFixed(1)} us`);
  await store.close();
}

async function timed<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly ms: number }> {
  const startedMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - startedMs };
}

function quantiles(latencies: readonly number[]): string {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function cpu(before: NodeJS.CpuUsage, count: number): string {
  const { user, system } = process.cpuUsage(before);
  return `${((user + system) / count).toFixed(0)} us CPU each`;
}

function row(name: string, figure: string): void {
  console.log(`| ${name} | ${figure} |`);
}

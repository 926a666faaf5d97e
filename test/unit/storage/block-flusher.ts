/**
 * A process that keeps a block store and flushes it, and says for how long at most the thread that
 * asked had no turn, and how long a flush took.
 */
import { BlockStore } from "../../../src/storage/block-store.ts";

export const BLOCK_FLUSHER = import.meta.filename;
const FLUSHES = 5;
const BLOCKS = 20;

async function main(directory: string): Promise<void> {
  const store = await BlockStore.open(directory, { freeBytesMin: 0, flushDelayMs: 3_600_000 });
  let height = 0;
  const append = (): void => {
    for (let count = 0; count < BLOCKS; count++) {
      height++;
      store.append(height, { block: new Uint8Array(1_000).fill(height % 251) });
    }
  };
  append();
  await store.flush();
  let lastMs = performance.now();
  let pauseMs = 0;
  let flushMs = 0;
  const beat = (): void => {
    const nowMs = performance.now();
    pauseMs = Math.max(pauseMs, nowMs - lastMs);
    lastMs = nowMs;
    if (store.get(height, "block") === undefined) throw new Error("a block cannot be read");
  };
  const heartbeat = setInterval(beat, 5);
  for (let count = 0; count < FLUSHES; count++) {
    append();
    const startedMs = performance.now();
    await store.flush();
    flushMs = Math.max(flushMs, performance.now() - startedMs);
    // A thread that stood still had no heartbeat at all.
    beat();
  }
  clearInterval(heartbeat);
  console.log(`flush ${Math.round(flushMs)}`);
  console.log(`pause ${Math.round(pauseMs)}`);
  await store.close();
}

if (import.meta.main) await main(process.argv[2] ?? "");

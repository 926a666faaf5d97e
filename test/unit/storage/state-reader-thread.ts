/**
 * A read worker: takes snapshots while the main thread writes, and counts those that do not fit.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { StateStore } from "../../../src/storage/state-store.ts";

export const STATE_READER = import.meta.filename;

async function readSnapshots(directory: string, reads: number): Promise<void> {
  const store = StateStore.openReader(directory);
  const heights = new Set<number | undefined>();
  let mixed = 0;
  const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value);
  for (let each = 0; each < reads || (heights.size < 2 && each < 100 * reads); each++) {
    const snapshot = store.snapshot();
    const first = text(snapshot.get(Uint8Array.of(97)));
    const second = text(snapshot.get(Uint8Array.of(98)));
    if (first !== second || first !== String(snapshot.height)) mixed++;
    heights.add(snapshot.height);
    snapshot.close();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await store.close();
  parentPort?.postMessage({ mixed, heights: heights.size });
}

if (!isMainThread) {
  const { directory, reads } = workerData as { directory: string; reads: number };
  await readSnapshots(directory, reads);
}

import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { BLOCK_SIZE, PROGRESS_KEY } from "./state-keys.ts";
import type { WriteBehindStore } from "./write-behind-store.ts";

/** How far the state in the store has come. It is written with every change of it. */
export type Progress = {
  readonly latest: bigint;
  /** The block with which the tries were last saved. */
  readonly checkpoint: bigint;
  /** The first block whose state can still be read. */
  readonly oldest: bigint;
  /** The first block whose record is still there; at or below `oldest`. */
  readonly oldestIndex: bigint;
};

export function readProgress(store: WriteBehindStore): Progress | undefined {
  const bytes = store.get(PROGRESS_KEY);
  if (bytes === undefined) return undefined;
  const field = (index: number): bigint => readBigEndian(bytes, index * BLOCK_SIZE, BLOCK_SIZE);
  return { latest: field(0), checkpoint: field(1), oldest: field(2), oldestIndex: field(3) };
}

export function writeProgress(store: WriteBehindStore, progress: Progress): void {
  const { latest, checkpoint, oldest, oldestIndex } = progress;
  const bytes = new Uint8Array(4 * BLOCK_SIZE);
  [latest, checkpoint, oldest, oldestIndex].forEach((block, index) => {
    writeBigEndian(block, bytes, index * BLOCK_SIZE, BLOCK_SIZE);
  });
  store.put(PROGRESS_KEY, bytes);
}

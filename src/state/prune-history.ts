import { decodeKeyList, readHistoryRecord } from "./history.ts";
import { writeProgress, type Progress } from "./progress.ts";
import { accountKey, blockKey, checkpointKey, historyKey, slotKey } from "./state-keys.ts";
import type { WriteBehindStore } from "./write-behind-store.ts";

/**
 * Deletes what only the states before `target` need, and returns the new progress. The state after
 * a block needs the differences of later blocks only, and for proofs the trie of its checkpoint
 * with the records of the blocks in between. It goes block by block, so that it holds little and
 * may be cut short by a crash.
 */
export function pruneHistory(
  store: WriteBehindStore,
  progress: Progress,
  target: bigint,
  pendingKeysMax: number,
): Progress {
  let current = progress;
  // What is deleted below must be in the store already, not waiting behind the deletion.
  store.flush();
  while (current.oldest < target) {
    const oldest = current.oldest + 1n;
    deleteDifferences(store, oldest);
    const oldestIndex = pruneIndex(store, current.oldestIndex, oldest);
    current = { ...current, oldest, oldestIndex };
    writeProgress(store, current);
    if (store.pendingCount > pendingKeysMax) store.flush();
  }
  return current;
}

/** What the block's keys held before it: the state before it can no longer be read. */
function deleteDifferences(store: WriteBehindStore, block: bigint): void {
  for (const { address, slots } of readHistoryRecord(store, block).changed) {
    store.delete(historyKey(accountKey(address), block));
    for (const slot of slots) store.delete(historyKey(slotKey(address, slot), block));
  }
}

/** Deletes the records of the blocks before the oldest block's checkpoint. */
function pruneIndex(store: WriteBehindStore, oldestIndex: bigint, oldest: bigint): bigint {
  const { checkpoint } = readHistoryRecord(store, oldest);
  let index = oldestIndex;
  for (; index < checkpoint; index++) store.delete(blockKey(index));
  // The nodes that the checkpoint replaced, unless that was done for an earlier block.
  const saved = store.get(checkpointKey(checkpoint));
  if (saved !== undefined) {
    for (const key of decodeKeyList(saved)) store.delete(historyKey(key, checkpoint));
    store.delete(checkpointKey(checkpoint));
  }
  return index;
}

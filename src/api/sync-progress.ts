/** How far a node that is behind has synced. */
export type SyncProgress = {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
};

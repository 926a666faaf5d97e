/** How far a node that is behind has come. */
export type SyncProgress = {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
};

/** What a replica tells of itself beside what it tells its clients. */

/** Numbers that only grow; metrics read them. */
export type ReplicaCounters = {
  finalBlocks: number;
  finalTransactions: number;
  droppedTransactions: number;
  viewChanges: number;
  framesRefused: number;
  executedBlocks: number;
  /** How often the state was taken from a peer. */
  stateTransfers: number;
};

export type LocalReport = {
  /** The last notice that needs an operator. */
  readonly alarm: string | undefined;
  /** Executable transactions leave no room. */
  readonly isPoolFull: boolean;
  /** Transactions beyond the budget of the peer that sent them, ever. */
  readonly intakeDropped: number;
};

/**
 * The numbers of the protocol. Those of one network are part of its genesis or its configuration.
 */
import type { Body, Hash, Header, ReplicaIndex } from "./block.ts";
import type { RejoinStatement, Statement } from "./message.ts";

export type Parameters = {
  readonly replicaCount: number;
  readonly self: ReplicaIndex;
  readonly genesis: Header;
  /** The result of executing genesis. */
  readonly genesisResult: Hash;
  /** W: how many blocks the leader may have in flight. */
  readonly window: number;
  /** With fewer transactions at a time than this, the leader does not wait for more. */
  readonly gatherFrom: number;
  /**
   * How many transactions must wait, for each block in flight, before a further one is proposed: a
   * small block costs as many messages as a large one. 0 fills the window at once.
   */
  readonly gatherPerBlock: number;
  /** L: how far execution may lag behind ordering before ordering waits. */
  readonly execLagMax: number;
  readonly blockTransactionsMax: number;
  readonly blockBytesMax: number;
  readonly blockGasMax: number;
  /** How many transactions wait here at most; further ones are refused. */
  readonly pendingMax: number;
  readonly timing: Timing;
  readonly checkpointInterval: number;
  /** Least block time between two Rejoins of one member. */
  readonly rejoinIntervalMs: number;
};

export type Timing = {
  readonly heartbeatMs: number;
  readonly idleHeartbeatMs: number;
  readonly leaderSilenceMs: number;
  readonly reconnectGraceMs: number;
  readonly progressMinMs: number;
  readonly progressMaxMs: number;
  readonly backoffMaxMs: number;
  readonly forwardAfterMs: number;
  readonly requestMs: number;
  readonly resendMs: number;
  readonly commitGraceMinMs: number;
  readonly commitGraceMaxMs: number;
  readonly clockAheadMaxMs: number;
  /** How far a leader lets the chain's time run ahead of its own clock. */
  readonly clockLeadMaxMs: number;
  readonly clockBehindMs: number;
  /** How far apart a busy leader holds its blocks at most. */
  readonly gatherMaxMs: number;
};

export const DEFAULT_TIMING: Timing = {
  heartbeatMs: 50,
  idleHeartbeatMs: 1_000,
  leaderSilenceMs: 250,
  reconnectGraceMs: 50,
  progressMinMs: 250,
  progressMaxMs: 2_000,
  backoffMaxMs: 4_000,
  forwardAfterMs: 100,
  requestMs: 500,
  resendMs: 200,
  commitGraceMinMs: 0.2,
  commitGraceMaxMs: 1,
  clockAheadMaxMs: 500,
  clockLeadMaxMs: 250,
  clockBehindMs: 5_000,
  gatherMaxMs: 150,
};

export const DEFAULT_PARAMETERS = {
  window: 4,
  gatherFrom: 4,
  gatherPerBlock: 256,
  execLagMax: 64,
  blockTransactionsMax: 4_096,
  blockBytesMax: 2 * 1024 * 1024,
  blockGasMax: 60_000_000,
  pendingMax: 16_384,
  timing: DEFAULT_TIMING,
  checkpointInterval: 1_000,
  rejoinIntervalMs: 600_000,
} as const;

/** What the core needs from outside to name and sign things. Deterministic and synchronous. */
export type Ports = {
  readonly hashHeader: (header: Header) => Hash;
  readonly hashBody: (body: Body) => Hash;
  readonly sign: (statement: Statement) => Uint8Array;
  readonly signRejoin: (statement: RejoinStatement) => Uint8Array;
};

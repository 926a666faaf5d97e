/** What a client node is given, and the numbers it works with. */
import type { Logger } from "../base/logger.ts";
import type { GenesisConfig } from "../chain/genesis.ts";
import type { PredeployedContract } from "../execution/genesis-state.ts";
import type { Endpoint, Principal } from "../transport/principal.ts";
import type { LinkTiming } from "../transport/transport-options.ts";
import type { TxPoolOptions } from "../txpool/pool-options.ts";

export type ClientOptions = {
  /** By default the first one that a client node may have. */
  readonly principal?: Principal;
  readonly genesis: GenesisConfig;
  readonly contracts?: readonly PredeployedContract[];
  /** Of block 0, where it is known: a state that gives another one is refused. */
  readonly genesisBlockHash?: Uint8Array;
  /** The Ed25519 key of this node, for its links. Secret: never log it. */
  readonly seed: Uint8Array;
  readonly dataPath: string;
  /** The addresses of the replicas, by index; undefined where `setEndpoint` gives it later. */
  readonly replicas: readonly (Endpoint | undefined)[];
  readonly pool?: Partial<TxPoolOptions>;
  readonly timing?: Partial<ClientTiming>;
  readonly linkTiming?: Partial<LinkTiming>;
  readonly calls?: Partial<CallLimits>;
  readonly journalSegmentSize?: number;
  /** Puts a damaged journal aside: accepted transactions that are not final may be lost. */
  readonly abandonsJournal?: boolean;
  /** What the operator runs when the journal is damaged; part of the error. */
  readonly repair?: string;
  readonly allowsNetworkFileSystem?: boolean;
  /** Name, version, platform and runtime, as web3_clientVersion gives them. */
  readonly clientVersion?: string;
};

export type ClientTiming = {
  /** The first wait before a transaction is sent again; each further one is twice as long. */
  readonly resendMinMs: number;
  readonly resendMaxMs: number;
  /** Without progress for so long while there is something to wait for, more replicas are asked. */
  readonly stallMs: number;
  /** How often replicas are asked where they stand. */
  readonly statusMs: number;
  /** How long the state may wait to be written with the blocks after it. */
  readonly stateFlushMs: number;
  /** How long a replica that was seen to be Byzantine is not followed. */
  readonly distrustMs: number;
  /** How long the reason for a refusal can be asked for. */
  readonly refusalKeptMs: number;
  readonly expiryCheckMs: number;
};

export const DEFAULT_CLIENT_TIMING: ClientTiming = {
  resendMinMs: 1_000,
  resendMaxMs: 4_000,
  stallMs: 400,
  statusMs: 1_000,
  stateFlushMs: 1_000,
  distrustMs: 60_000,
  refusalKeptMs: 60 * 60 * 1_000,
  expiryCheckMs: 10_000,
};

/** Of calls, estimates, traces and proofs. */
export type CallLimits = {
  readonly gasMax: bigint;
  /** How long one may run. */
  readonly timeMaxMs: number;
  /**
   * How long it may then take to end: a precompile cannot be interrupted. After that its thread is
   * ended with it.
   */
  readonly stopGraceMs: number;
  /** Of a trace or a simulation, in bytes. */
  readonly resultBytesMax: number;
  /**
   * Threads for what does not end at once: at most one less than there are processors, but two for
   * the sake of fairness, because one caller alone never has the last.
   */
  readonly workersMax: number;
  /** How many may wait for a thread, of all callers and of one, and how long. */
  readonly waitingMax: number;
  readonly waitingCallerMax: number;
  readonly waitMaxMs: number;
  /** A thread that has had nothing to do for so long is ended. */
  readonly idleMaxMs: number;
};

export const DEFAULT_CALL_LIMITS: CallLimits = {
  gasMax: 60_000_000n,
  timeMaxMs: 5_000,
  stopGraceMs: 3_000,
  resultBytesMax: 25_000_000,
  workersMax: 4,
  waitingMax: 1_024,
  waitingCallerMax: 256,
  waitMaxMs: 10_000,
  idleMaxMs: 60_000,
};

export type ClientDependencies = {
  readonly logger: Logger;
  /** Once: the node has stopped for good and the process should end with a failure. */
  readonly onFatal: (error: unknown) => void;
  /** A transaction that was promised here is final, so long after it was accepted. For metrics. */
  readonly onFinal?: (latencyMs: number) => void;
  /** Milliseconds since 1970. Times in the journal outlive the process. */
  readonly now?: () => number;
};

import type { Logger } from "../base/logger.ts";
import type { GenesisConfig } from "../chain/genesis.ts";
import type { ReplicaIndex } from "../consensus/block.ts";
import type { Timing } from "../consensus/parameters.ts";
import type { PredeployedContract } from "../execution/genesis-state.ts";
import type { Endpoint, Principal } from "../transport/principal.ts";
import type { LinkTiming } from "../transport/transport-options.ts";
import type { TxPoolOptions } from "../txpool/pool-options.ts";
import type { TransferTiming } from "./state-sync/state-transfer.ts";

/**
 * resume: the normal start. A replica with an empty log asks the others whether it may begin.
 * found: the installer vouches that this replica never ran: its empty log is the first.
 * rejoin: the log is put aside for ever; the others let the replica in again in a new epoch.
 */
export type StartMode = "resume" | "bootstrap" | "rejoin";

export type ReplicaOptions = {
  readonly index: ReplicaIndex;
  readonly genesis: GenesisConfig;
  readonly contracts?: readonly PredeployedContract[];
  /** Of block 0, where it is known: a state that gives another one is refused. */
  readonly genesisBlockHash?: Uint8Array;
  /** The Ed25519 key of this node, for signatures and links. Secret: never log it. */
  readonly seed: Uint8Array;
  readonly dataPath: string;
  readonly listen: Endpoint;
  /** Where the replicas are, by index; undefined where `setEndpoint` sets it later. */
  readonly replicas: readonly (Endpoint | undefined)[];
  readonly clientPublicKeys: ReadonlyMap<Principal, Uint8Array>;
  readonly startMode: StartMode;
  readonly pool?: Partial<TxPoolOptions>;
  readonly timing?: Partial<Timing>;
  readonly linkTiming?: Partial<LinkTiming>;
  readonly blockTransactionsMax?: number;
  /** What the operator runs to abandon a damaged log; part of the errors. */
  readonly repair?: string;
  readonly logSegmentSize?: number;
  readonly stateFlushDelayMs?: number;
  /** Threads that find out who signed transactions; by default as the machine has cores for. */
  readonly senderThreads?: number;
  /** When and how patiently the state is taken from a peer instead of being executed. */
  readonly stateTransfer?: {
    readonly gapMin?: number;
    readonly timing?: Partial<TransferTiming>;
  };
  readonly allowsNetworkFileSystem?: boolean;
};

/** What happens in a replica, for metrics. Called while it works: to be answered at once. */
export type ReplicaObserver = {
  /** A block is final here, so long after its leader made it by the leader's clock. */
  onFinal(transactionCount: number, commitMs: number): void;
  onExecuted(transactionCount: number, durationMs: number): void;
  /** Log records are durable, so long after that was asked for. */
  onLogSynced(durationMs: number): void;
};

export type ReplicaDependencies = {
  readonly logger: Logger;
  readonly observer?: ReplicaObserver;
  /** Once: the replica has stopped for good and the process should end with a failure. */
  readonly onFatal: (error: unknown) => void;
};

const DEFAULT_REPAIR = "quorate replica --rejoin";

export function repairOf({ repair }: ReplicaOptions): string {
  return repair ?? DEFAULT_REPAIR;
}

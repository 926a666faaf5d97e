/** What quorate_status and quorate_replicas ask of the node. */
import type { Awaitable } from "./awaitable.ts";

export type NetworkStatus = {
  /** Linked to enough replicas and caught up. */
  readonly isReady: boolean;
  /** Why nothing becomes final, in words; undefined while there is progress. */
  readonly problem: string | undefined;
  readonly epoch: number | undefined;
  readonly view: number | undefined;
  readonly leader: number | undefined;
  /** Heights count blocks of the consensus chain; `blockNumber` counts Ethereum blocks. */
  readonly finalHeight: number;
  readonly publishedHeight: number;
  readonly blockNumber: bigint;
  readonly lag: number;
  readonly replicasUp: number;
  readonly replicasNeeded: number;
  readonly replicaCount: number;
  readonly pool: { readonly executable: number; readonly queued: number; readonly isFull: boolean };
  /** For how long executable transactions have waited while nothing became final. */
  readonly stalledMs: number;
  /** Acknowledged and not final yet. */
  readonly openTransactions: number;
  readonly isDiskFull: boolean;
};

/** What a replica reports of itself is undefined while it reports nothing. */
export type ReplicaState = {
  readonly replica: number;
  readonly isUp: boolean;
  readonly isFollowed: boolean;
  readonly isDistrusted: boolean;
  readonly mode: string | undefined;
  readonly epoch: number | undefined;
  readonly view: number | undefined;
  readonly leader: number | undefined;
  readonly tipHeight: number | undefined;
  readonly finalHeight: number | undefined;
  readonly execHeight: number | undefined;
  readonly pendingCount: number | undefined;
  readonly isDiskFull: boolean | undefined;
  readonly peersUp: readonly number[] | undefined;
};

export type NetworkStatusReader = {
  networkStatus(): NetworkStatus;
  replicaStatuses(): readonly ReplicaState[];
};

/** The readers of the two methods. */
export type NodeStatusReader = { networkStatus(): Awaitable<NetworkStatus> };
export type ReplicasReader = { replicaStatuses(): Awaitable<readonly ReplicaState[]> };

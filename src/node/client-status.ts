/** Where the network stands as the client node sees it, for ethrpc and for health. */
import { leaderOf } from "../consensus/quorum.ts";
import type { ClientNode, ClientStatus } from "../client/client-node.ts";
import type { NetworkStatus, NetworkStatusReader, ReplicaState } from "../api/network-status.ts";
import { progressProblem } from "./progress.ts";

/** Longer than a view change and a slow block take. */
const STALL_MS = 10_000;

export function networkReader(node: Pick<ClientNode, "status">): NetworkStatusReader {
  return {
    networkStatus: () => toNetworkStatus(node.status()),
    replicaStatuses: () => toReplicaStates(node.status()),
  };
}

/** What is wrong with the node itself, independent of the replicas. */
export function nodeProblemOf({
  failure,
  journalFailure,
  isDiskFull,
}: ClientStatus): string | undefined {
  if (failure !== undefined) return `the client node stopped: ${failure}`;
  if (journalFailure !== undefined) return `no transaction is accepted: ${journalFailure}`;
  return isDiskFull ? "no transaction is accepted: the client node's disk is full" : undefined;
}

/** What else keeps transactions waiting, when the replicas and the node report no problem. */
export function stallProblemOf({ pool, stalledMs }: ClientStatus): string | undefined {
  if (stalledMs < STALL_MS) return undefined;
  const { executable, isFull } = pool;
  const waiting = isFull
    ? `the mempool is full (${executable} executable transactions)`
    : `${executable} executable transactions wait`;
  const seconds = Math.floor(stalledMs / 1_000);
  return `no progress: ${waiting} and nothing became final for ${seconds} s; read the replicas' logs`;
}

function toNetworkStatus(status: ClientStatus): NetworkStatus {
  const { replicas, quorum } = status;
  const views = replicas.map(({ replica, isUp, report }) => ({
    replica,
    isUp,
    mode: report?.mode,
    isDiskFull: report?.isDiskFull === true,
  }));
  const { epoch, view } = latestView(status);
  return {
    isReady: status.isReady,
    problem: nodeProblemOf(status) ?? progressProblem(views, quorum) ?? stallProblemOf(status),
    epoch,
    view,
    leader: view === undefined ? undefined : leaderOf(view, replicas.length),
    finalHeight: status.finalHeight,
    publishedHeight: status.publishedHeight,
    blockNumber: status.blockNumber,
    lag: status.lag,
    replicasUp: status.upCount,
    replicasNeeded: quorum,
    replicaCount: replicas.length,
    pool: poolOf(status),
    stalledMs: status.stalledMs,
    openTransactions: status.openTransactions,
    isDiskFull: status.isDiskFull,
  };
}

function poolOf({ pool: { executable, queued, isFull } }: ClientStatus): NetworkStatus["pool"] {
  return { executable, queued, isFull };
}

/**
 * The highest view that any replica reports. It is unproved, and so is the leader derived from it.
 */
function latestView({ replicas }: ClientStatus): { epoch?: number; view?: number } {
  let latest: { epoch: number; view: number } | undefined;
  for (const { report } of replicas) {
    if (report?.mode !== "active") continue;
    const isLater =
      latest === undefined ||
      report.epoch > latest.epoch ||
      (report.epoch === latest.epoch && report.view > latest.view);
    if (isLater) latest = { epoch: report.epoch, view: report.view };
  }
  return latest ?? {};
}

function toReplicaStates({ replicas }: ClientStatus): readonly ReplicaState[] {
  return replicas.map(({ replica, isUp, isFollowed, isDistrusted, report }) => ({
    ...{ replica, isUp, isFollowed, isDistrusted },
    mode: report?.mode,
    epoch: report?.epoch,
    view: report?.view,
    leader: report?.leader,
    tipHeight: report?.tipHeight,
    finalHeight: report?.finalHeight,
    execHeight: report?.execHeight,
    pendingCount: report?.pendingCount,
    isDiskFull: report?.isDiskFull,
    peersUp: report?.peersUp,
  }));
}

import { invariant } from "../base/invariant.ts";

/**
 * Sizes of quorums (PROTOCOL §1): n = 3f+1. Two quorums share a correct replica; a weak quorum
 * contains one.
 */
export type Quorum = {
  readonly replicaCount: number;
  readonly faultsMax: number;
  /** 2f+1: certificates and view changes. */
  readonly quorum: number;
  /** f+1: at least one of them is correct. */
  readonly weak: number;
};

export function quorumOf(replicaCount: number): Quorum {
  invariant(replicaCount >= 4 && replicaCount % 3 === 1, "n = 3f+1 with f >= 1");
  const faultsMax = (replicaCount - 1) / 3;
  return { replicaCount, faultsMax, quorum: 2 * faultsMax + 1, weak: faultsMax + 1 };
}

/** The leader only moves when a view fails (PROTOCOL §1). */
export function leaderOf(view: number, replicaCount: number): number {
  return view % replicaCount;
}

/**
 * Nodes of one network have numbers, which are pinned to their keys: replicas are 0 .. n-1, the
 * numbers up to 2n are reserved for them, and client nodes count from here. It is 8 for the usual
 * four replicas, and was for every network before larger ones.
 */
export function clientPrincipalMin(replicaCount: number): number {
  return Math.max(8, 2 * replicaCount);
}

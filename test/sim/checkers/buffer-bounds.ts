/** S11: whatever peers send, a replica buffers no more than its window and its members call for. */
import { BLOCKS_PER_REQUEST } from "../../../src/consensus/recovery/catch-up.ts";
import type { Parameters } from "../../../src/consensus/parameters.ts";
import type { ReplicaStatus } from "../../../src/consensus/replica.ts";
import { Violation } from "./violation.ts";

export function checkBuffers(replica: string, status: ReplicaStatus, parameters: Parameters): void {
  const { replicaCount, window, execLagMax, pendingMax } = parameters;
  const { buffered } = status;
  const limits = [
    // A log that was torn may hold the blocks of one answer without the record of their finality.
    ["blocks", buffered.blocks, 16 * window + BLOCKS_PER_REQUEST],
    // Votes and commits of this view and of one view to come, and the newest ones of each sender.
    ["ballots", buffered.ballots, replicaCount * (8 * window + 2)],
    ["results", buffered.execVotes, replicaCount * (3 * execLagMax + 4 * window)],
    ["view changes", buffered.viewChanges, replicaCount],
    ["transactions", status.pendingCount, pendingMax],
    ["messages waiting for the disk", buffered.outbox, 64 * replicaCount * window],
  ] as const;
  for (const [what, size, max] of limits) {
    if (size > max) throw new Violation("S11", `replica ${replica} holds ${size} ${what}`);
  }
}

/**
 * When to lose patience with a leader (PROTOCOL §6.1, §6.5). Every rule compares the clock with a
 * moment in the state, so handling a tick late, early or twice changes nothing.
 */
import { complain } from "./complaining.ts";
import { leader, type Core } from "./core.ts";
import { dueRejoin } from "./epoch.ts";
import { chainHashes } from "./voting.ts";

type Deadline = {
  readonly atMs: number;
  readonly reason:
    "no-progress" | "silent-leader" | "leader-disconnected" | "new-view-timeout" | "censorship";
};

/** Notes whether there is work, then complains about what is overdue. */
export function watchLeader(core: Core): boolean {
  noteWork(core);
  noteQuorumInView(core);
  if (core.mode !== "active" || core.views.ownComplaint !== undefined) return false;
  for (const { atMs, reason } of deadlines(core)) {
    if (core.clock.nowMs < atMs) continue;
    complain(core, reason);
    return true;
  }
  return false;
}

/** The earliest moment at which a rule could fire. */
export function nextDeadlineMs(core: Core): number | undefined {
  if (core.mode !== "active" || core.views.ownComplaint !== undefined) return undefined;
  const moments = deadlines(core).map(({ atMs }) => atMs);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

function deadlines(core: Core): readonly Deadline[] {
  const { timers } = core;
  const found: Deadline[] = [];
  const disconnected = disconnectedDeadline(core);
  if (!core.isAccepted) {
    // Without 2f+1 replicas in this view or above, no timer runs: views must not run away while
    // there is no quorum that could follow.
    if (timers.quorumInViewMs === undefined) return found;
    found.push({ atMs: timers.quorumInViewMs + viewTimeoutMs(core), reason: "new-view-timeout" });
    if (disconnected !== undefined) found.push(disconnected);
    return found;
  }
  if (disconnected !== undefined) found.push(disconnected);
  if (timers.workSinceMs !== undefined) {
    const sinceMs = Math.max(timers.workSinceMs, timers.lastProgressMs);
    found.push({ atMs: sinceMs + viewTimeoutMs(core), reason: "no-progress" });
    if (leader(core) !== core.self) {
      const silentSinceMs = Math.max(timers.workSinceMs, timers.leaderHeardMs);
      const silenceMs = backedOff(core, core.parameters.timing.leaderSilenceMs);
      found.push({ atMs: silentSinceMs + silenceMs, reason: "silent-leader" });
    }
  }
  return found;
}

function disconnectedDeadline(core: Core): Deadline | undefined {
  const peer = core.peers[leader(core)];
  if (leader(core) === core.self || peer === undefined || peer.isUp) return undefined;
  const sinceMs = Math.max(peer.downSinceMs, core.timers.viewEnteredMs);
  const graceMs = backedOff(core, core.parameters.timing.reconnectGraceMs);
  return { atMs: sinceMs + graceMs, reason: "leader-disconnected" };
}

/** min(base * 2^k, cap): saturating, so that no number of failures overflows it. */
function backedOff(core: Core, baseMs: number): number {
  const { failures } = core.timers;
  return Math.min(baseMs * 2 ** failures, core.parameters.timing.backoffMaxMs);
}

/** The view timer follows the network's own commit latency; a leader that failed gets half. */
export function viewTimeoutMs(core: Core): number {
  const { progressMinMs, progressMaxMs } = core.parameters.timing;
  const sorted = core.timers.latenciesMs.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const baseMs = Math.min(Math.max(8 * p99, progressMinMs), progressMaxMs);
  const isSuspect = core.views.failedLeaders.has(leader(core));
  return backedOff(core, isSuspect ? baseMs / 2 : baseMs);
}

/** Work is an unfinalized block of this view, or a transaction that the leader has been given. */
function noteWork(core: Core): void {
  const { timers, clock } = core;
  if (!hasWork(core)) timers.workSinceMs = undefined;
  else timers.workSinceMs ??= clock.nowMs;
}

export function hasWork(core: Core): boolean {
  if (hasBlocksInFlight(core)) return true;
  if (leader(core) === core.self) {
    return core.pending.size > 0 || dueRejoin(core) !== undefined;
  }
  const rejoinSinceMs = dueRejoin(core)?.sinceMs ?? Infinity;
  if (rejoinSinceMs + core.parameters.timing.requestMs <= core.clock.nowMs) return true;
  for (const pending of core.pending.waiting(chainHashes(core))) {
    if (pending.forwardedMs !== undefined) return true;
    // First in, first out: if the oldest was not handed over, no younger one was.
    break;
  }
  return false;
}

export function hasBlocksInFlight(core: Core): boolean {
  if (core.tip.height > core.final.link.height || core.proposals.size > 0) return true;
  // A single voter proves nothing: a liar could keep everyone busy with votes for nothing.
  const { votes } = core.ballots;
  return votes.heights().some((height) => {
    return [...votes.counts(height).values()].some((count) => count >= core.quorum.weak);
  });
}

/** PROTOCOL §6.5: the timer of a view starts when a quorum is in it or above. */
function noteQuorumInView(core: Core): void {
  const { timers } = core;
  if (core.isAccepted || timers.quorumInViewMs !== undefined) return;
  let count = 0;
  for (const { message } of core.views.changes.values()) if (message.newView >= core.view) count++;
  if (count >= core.quorum.quorum) timers.quorumInViewMs = core.clock.nowMs;
}

/**
 * The view timer: when to complain about a leader (PROTOCOL §6.1, §6.5). Every rule compares the
 * clock with a moment in the state, so handling a tick late, early or twice changes nothing.
 */
import { viewInEpoch } from "../certificate.ts";
import { chainHashes } from "../chain-hashes.ts";
import { complain, withdrawComplaint } from "./view-complaint.ts";
import { leader, type Core } from "../core.ts";
import { dueRejoin } from "../recovery/epoch.ts";
import { noteExecutionWait, othersExecutionMs } from "./execution-wait.ts";
import type { ComplaintReason, SuspicionReason } from "../message.ts";

type Deadline = {
  readonly atMs: number;
  readonly reason: SuspicionReason;
};

const PASSING_REASONS: ReadonlySet<ComplaintReason> = new Set([
  "no-progress",
  "silent-leader",
  "leader-disconnected",
  "new-view-timeout",
]);

/** Notes whether there is work, then complains about what is overdue. */
export function watchLeader(core: Core): boolean {
  noteWork(core);
  noteExecutionWait(core);
  noteQuorumInView(core);
  if (core.mode !== "active") return false;
  const overdue = deadlines(core).find(({ atMs }) => core.clock.nowMs >= atMs);
  if (overdue === undefined) {
    withdrawPassingComplaint(core);
    return false;
  }
  if (core.views.ownComplaint !== undefined) return false;
  complain(core, overdue.reason);
  return true;
}

/** A complaint lasts as long as its reason; one that rests on evidence stays. */
function withdrawPassingComplaint(core: Core): void {
  const reason = core.views.ownComplaint?.reason;
  if (reason !== undefined && PASSING_REASONS.has(reason)) withdrawComplaint(core);
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
    // Without 2f+1 replicas in this view or above, no timer runs: the view number must not grow
    // while there is no quorum that could follow.
    if (timers.quorumInViewMs === undefined) return found;
    found.push({ atMs: timers.quorumInViewMs + viewTimeoutMs(core), reason: "new-view-timeout" });
    if (disconnected !== undefined) found.push(disconnected);
    return found;
  }
  if (disconnected !== undefined) found.push(disconnected);
  if (timers.workSinceMs !== undefined) {
    if (leader(core) !== core.self) {
      const silentSinceMs = Math.max(timers.workSinceMs, timers.leaderHeardMs);
      found.push({ atMs: silentSinceMs + silenceMs(core), reason: "silent-leader" });
    }
    const progress = progressDeadline(core, timers.workSinceMs);
    if (progress !== undefined) found.push(progress);
  }
  return found;
}

/** Execution that ordering waits for is progress (PROTOCOL §6.1 a). */
function progressDeadline(core: Core, workSinceMs: number): Deadline | undefined {
  const { isAwaited, awaitedUntilMs } = core.execution;
  if (isAwaited) return undefined;
  const sinceMs = Math.max(workSinceMs, core.timers.lastProgressMs, awaitedUntilMs);
  const periodMs = viewTimeoutMs(core) + othersExecutionMs(core, leader(core));
  return { atMs: sinceMs + periodMs, reason: "no-progress" };
}

function disconnectedDeadline(core: Core): Deadline | undefined {
  const peer = core.peers[leader(core)];
  if (leader(core) === core.self || peer === undefined || peer.isUp) return undefined;
  const { reconnectGraceMs, idleHeartbeatMs } = core.parameters.timing;
  // A leader that was disconnected when its view started has used up its grace period and gets no
  // second one.
  if (peer.hasBeenUp) {
    const atMs = peer.downSinceMs + backedOff(core, reconnectGraceMs);
    return { atMs, reason: "leader-disconnected" };
  }
  // A leader that never connected is still starting, like every node of a new network: it is at
  // fault only if work waits for it.
  const oldestMs = core.pending.nextToForward()?.arrivedMs;
  if (oldestMs === undefined) return undefined;
  const sinceMs = Math.max(peer.downSinceMs, core.timers.viewEnteredMs, oldestMs);
  const atMs = sinceMs + backedOff(core, idleHeartbeatMs);
  return { atMs, reason: "leader-disconnected" };
}

/** min(base * 2^k, cap): saturating, so that no number of failures overflows it. */
function backedOff(core: Core, baseMs: number): number {
  const { failures } = core.timers;
  return Math.min(baseMs * 2 ** failures, core.parameters.timing.backoffMaxMs);
}

/**
 * Where commits usually take long, on machines without spare CPU time, a leader whose messages come
 * late is no worse than the others.
 */
function silenceMs(core: Core): number {
  const { leaderSilenceMs, progressMaxMs } = core.parameters.timing;
  const usualMs = Math.min(8 * core.timers.usualCommitMs, progressMaxMs);
  return backedOff(core, Math.max(leaderSilenceMs, usualMs));
}

/** The view timer follows the network's own commit latency; a leader that failed gets half. */
function viewTimeoutMs(core: Core): number {
  const { progressMinMs, progressMaxMs } = core.parameters.timing;
  // Of so few samples the slowest stands for the 99th percentile.
  const slowestMs = core.timers.slowestCommitMs;
  const baseMs = Math.min(Math.max(8 * slowestMs, progressMinMs), progressMaxMs);
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
  // One voter proves nothing: a Byzantine replica could keep the timer running with votes for
  // blocks that do not exist.
  const { votes } = core.ballots;
  return votes.heights().some((height) => {
    return [...votes.counts(height).values()].some((count) => count >= core.quorum.weak);
  });
}

/** PROTOCOL §6.5: the timer of a view starts when a quorum is in it or above. */
function noteQuorumInView(core: Core): void {
  const { timers } = core;
  if (core.isAccepted || timers.quorumInViewMs !== undefined) return;
  // This replica counts too, also when it entered by a certificate and has nothing to report.
  const senders = new Set([core.self]);
  for (const [sender, view] of core.views.reached) if (view >= core.view) senders.add(sender);
  const isCertified = [core.highCert, core.final.certificate].some(
    (certificate) => viewInEpoch(certificate, core.epoch) >= core.view,
  );
  if (isCertified || senders.size >= core.quorum.quorum) timers.quorumInViewMs = core.clock.nowMs;
}

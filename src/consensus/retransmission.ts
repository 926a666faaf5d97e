/**
 * Retransmission (PROTOCOL §6.5): no message is sent only once. Heartbeats while there is work, a
 * slow one when idle, and every unanswered message again while stuck and whenever a link comes up.
 */
import type { Ballot } from "./agreement/ballots.ts";
import type { ReplicaIndex } from "./block.ts";
import { askForNewView } from "./recovery/catch-up.ts";
import { ownCommit } from "./agreement/committer.ts";
import { leader, sendAfterSync, sendNow, signed, type Core } from "./core.ts";
import type { Status } from "./message.ts";
import { hasBlocksInFlight, hasWork } from "./view-change/view-timer.ts";
import { repeatViewChange } from "./view-change/view-change.ts";

const FORWARDS_PER_STEP = 64;
/** While the leader makes progress: frequent enough to detect one that leaves out what it can. */
const FORWARDS_TO_BUSY = 8;

export function sendHeartbeat(core: Core): void {
  const { timers, clock, parameters } = core;
  if (clock.nowMs < timers.nextHeartbeatMs) return;
  const { heartbeatMs, idleHeartbeatMs, resendMs } = parameters.timing;
  const busyMs = leader(core) === core.self ? heartbeatMs : resendMs;
  timers.nextHeartbeatMs = clock.nowMs + (hasWork(core) ? busyMs : idleHeartbeatMs);
  sendNow(core, "all", statusOf(core));
}

/** When work begins, the next heartbeat must not wait for the idle interval to end. */
export function hurryHeartbeat(core: Core): void {
  const { heartbeatMs, resendMs } = core.parameters.timing;
  if (!hasWork(core)) return;
  const busyMs = leader(core) === core.self ? heartbeatMs : resendMs;
  core.timers.nextHeartbeatMs = Math.min(core.timers.nextHeartbeatMs, core.clock.nowMs + busyMs);
}

export function statusOf(core: Core): Status {
  return {
    kind: "status",
    epoch: core.epoch,
    view: core.view,
    finalHeight: core.final.link.height,
    execHeight: core.execution.height,
  };
}

/** Retransmits to all what may have been lost, while nothing becomes final. */
export function resendWhenStuck(core: Core): void {
  const { timers, clock, parameters } = core;
  if (!isStuck(core) || clock.nowMs < timers.nextResendMs) return;
  timers.nextResendMs = clock.nowMs + parameters.timing.resendMs;
  resendTo(core, "all");
  askForNewView(core);
}

export function isStuck(core: Core): boolean {
  if (core.mode !== "active" && core.mode !== "diverged") return false;
  if (!core.isAccepted || core.views.abdicate !== undefined) return true;
  if (core.views.ownComplaint !== undefined) return true;
  const { lastProgressMs, workSinceMs } = core.timers;
  if (workSinceMs === undefined && !hasBlocksInFlight(core)) return false;
  const sinceMs = Math.max(lastProgressMs, workSinceMs ?? 0);
  return core.clock.nowMs >= sinceMs + core.parameters.timing.resendMs;
}

/** Every message of ours that a peer may still need. */
export function resendTo(core: Core, to: ReplicaIndex | "all"): void {
  const { views } = core;
  sendNow(core, to, statusOf(core));
  if (core.mode !== "active" && core.mode !== "diverged") return;
  const change = repeatViewChange(core);
  if (change !== undefined) sendAfterSync(core, to, change);
  if (views.abdicate !== undefined) sendNow(core, to, views.abdicate);
  if (core.mode !== "active") return;
  if (views.ownComplaint !== undefined) sendNow(core, to, views.ownComplaint);
  if (views.acceptedNewView !== undefined) sendAfterSync(core, to, views.acceptedNewView);
  else if (views.sentNewViewIn === core.view) {
    const own = views.newViews.get(core.view);
    if (own !== undefined) sendAfterSync(core, to, own.message);
  }
  if (leader(core) === core.self && core.mayLead) {
    for (const proposal of core.proposals.values()) sendNow(core, to, proposal);
  }
  resendBallots(core, to);
}

function resendBallots(core: Core, to: ReplicaIndex | "all"): void {
  for (const ballot of ownBallots(core)) sendAfterSync(core, to, ballot);
}

/** Our votes of the current view that are not final yet, and the highest Commit. */
export function ownBallots(core: Core): readonly Ballot[] {
  const { epoch, self: sender, view, highCert } = core;
  const ballots: Ballot[] = core.ownVotes.map(({ height, hash: blockHash }) =>
    signed(core, { kind: "vote", epoch, sender, view, height, blockHash }),
  );
  const isOwnCommit = highCert.kind === "quorum" && highCert.epoch === epoch;
  if (isOwnCommit && highCert.view === view && highCert.height > core.final.link.height) {
    ballots.push(ownCommit(core, highCert));
  }
  return ballots;
}

/** Hands the leader transactions that it should have proposed by now (PROTOCOL §6.1). */
export function forwardPending(core: Core): void {
  const { timers, clock, parameters } = core;
  const to = leader(core);
  if (core.mode !== "active" || to === core.self || !core.isAccepted) return;
  if (clock.nowMs < timers.nextForwardMs || core.peers[to]?.isUp !== true) return;
  const { forwardAfterMs, gatherMaxMs } = parameters.timing;
  const mayGather = clock.nowMs < timers.lastProgressMs + gatherMaxMs;
  const isLeaderAtWork = hasBlocksInFlight(core) || mayGather;
  let count = 0;
  let needless = 0;
  for (; count < FORWARDS_PER_STEP; count++) {
    const pending = core.pending.nextToForward();
    if (pending === undefined || pending.arrivedMs + forwardAfterMs > clock.nowMs) break;
    // Most likely the leader has it, and others that came before it.
    const isNeedless = isLeaderAtWork && !core.pending.isPassedOver(pending, forwardAfterMs);
    if (isNeedless && ++needless > FORWARDS_TO_BUSY) break;
    core.pending.markForwarded(pending, clock.nowMs);
    sendNow(core, to, { kind: "forward", transaction: pending.transaction });
  }
  if (count === 0) return;
  const pauseMs = needless > 0 ? forwardAfterMs : forwardAfterMs / 4;
  timers.nextForwardMs = clock.nowMs + pauseMs;
}

export function nextForwardMs(core: Core): number | undefined {
  if (leader(core) === core.self || !core.isAccepted || core.mode !== "active") return undefined;
  const pending = core.pending.nextToForward();
  if (pending === undefined || core.peers[leader(core)]?.isUp !== true) return undefined;
  const dueMs = pending.arrivedMs + core.parameters.timing.forwardAfterMs;
  return Math.max(dueMs, core.timers.nextForwardMs);
}

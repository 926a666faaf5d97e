/** Leaving a view and entering a higher one (PROTOCOL §6.1, §6.5). */
import { complain, standingComplaints } from "./view-complaint.ts";
import { append, leader, notice, sendAfterSync, sendNow, type Core } from "../core.ts";
import type { Message } from "../message.ts";
import { repeatViewChange } from "./view-change.ts";

const FAILURES_MAX = 16;

/** Leaves the view when enough replicas wish it, or when its leader is proved or declared gone. */
export function leaveView(core: Core): boolean {
  if (!mayPromise(core)) return false;
  const reasons = reasonsToLeave(core);
  if (reasons.length === 0) return false;
  core.views.failedLeaders.add(leader(core));
  // A replica that leaves passes the reason on, so that no replica stays behind in a view that
  // cannot decide.
  for (const message of reasons) sendNow(core, "all", message);
  enterView(core, core.view + 1);
  return true;
}

function reasonsToLeave(core: Core): readonly Message[] {
  const evidence = core.views.evidence.get(leader(core));
  if (evidence !== undefined && isOfThisView(core, evidence)) return [evidence];
  if (core.views.abdicate !== undefined) return [core.views.abdicate];
  const complaints = standingComplaints(core);
  return complaints.length >= core.quorum.weak ? complaints : [];
}

/**
 * Evidence of an earlier view makes us complain when its signer leads; evidence of this view ends
 * the view at once.
 */
function isOfThisView(
  core: Core,
  evidence: { readonly first: { readonly view: number } },
): boolean {
  return evidence.first.view === core.view;
}

/** Joins the highest view that a correct replica has certainly reached (PROTOCOL §6.5). */
export function joinHigherView(core: Core): boolean {
  if (!mayPromise(core)) return false;
  const bySender = new Map(core.views.reached);
  bySender.delete(core.self);
  const views = [...bySender.values()].sort((a, b) => b - a);
  const reached = Math.max(views[core.quorum.weak - 1] ?? 0, highestFinalView(core));
  if (reached <= core.view) return false;
  enterView(core, reached);
  return true;
}

/** Blocks became final in this view: a quorum is there, whichever way its certificate arrived. */
function highestFinalView(core: Core): number {
  let highest = 0;
  for (const certificate of [core.final.certificate, core.awaitedFinal]) {
    if (certificate?.epoch === core.epoch) highest = Math.max(highest, certificate.view);
  }
  return highest;
}

function mayPromise(core: Core): boolean {
  return core.mode === "active" || core.mode === "diverged";
}

/**
 * From here on no Vote and no Commit below `view`; the record is written before anything that
 * depends on it is sent.
 */
export function enterView(core: Core, view: number): void {
  append(core, { kind: "view", view });
  core.outbox.dropBallotsBelow(core.epoch, view);
  core.view = view;
  core.isAccepted = false;
  core.isTipConflicting = false;
  core.mayLead = true;
  core.ownVotes = [];
  core.proposals.clear();
  core.ballots.enterView(view);
  core.ballots.dropThrough(core.final.link.height);
  core.pending.forgetForwards();
  const { views } = core;
  views.complaints.clear();
  views.ownComplaint = undefined;
  views.abdicate = undefined;
  views.acceptedNewView = undefined;
  views.lastProposed = undefined;
  for (const key of views.newViews.keys()) if (key < view) views.newViews.delete(key);
  resetViewTimers(core);
  notice(core, { code: "VIEW_ENTERED", epoch: core.epoch, view });
  // A replica that enters because blocks are final in the view has nothing to report below it.
  const change = repeatViewChange(core);
  if (change !== undefined) sendAfterSync(core, "all", change);
}

function resetViewTimers({ timers, clock, parameters }: Core): void {
  timers.failures = timers.hasFinalizedInView ? 0 : Math.min(timers.failures + 1, FAILURES_MAX);
  timers.hasFinalizedInView = false;
  timers.viewEnteredMs = clock.nowMs;
  timers.quorumInViewMs = undefined;
  timers.leaderHeardMs = clock.nowMs;
  timers.nextResendMs = clock.nowMs + parameters.timing.resendMs;
  timers.hasComplainedOfTimestamp = false;
  timers.votedAtMs.clear();
  timers.quorumAtMs.clear();
}

/** A leader with evidence against it is complained about as soon as its view starts. */
export function complainOfByzantineLeader(core: Core): boolean {
  if (core.views.ownComplaint !== undefined || !core.views.evidence.has(leader(core))) return false;
  if (leader(core) === core.self || core.mode !== "active") return false;
  complain(core, "equivocation");
  return true;
}

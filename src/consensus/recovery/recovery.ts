/** Recovery at start: bootstrap, resuming from the log, and a lost log (PROTOCOL §5.4, §9). */
import { err, ok, type Result } from "../../base/result.ts";
import { invariant } from "../../base/invariant.ts";
import { stepDown } from "../view-change/step-down.ts";
import type { Hash, ReplicaIndex } from "../block.ts";
import { append, notice, sendNow, type Core } from "../core.ts";
import type { Commit, Probe, ProbeAnswer, ViewChange, Vote } from "../message.ts";
import { onViewChange } from "../view-change/new-view.ts";
import type { Rejection } from "../rejection.ts";
import { ownBallots } from "../retransmission.ts";
import { replay, takeSnapshot } from "./replay.ts";
import type { Start } from "./start.ts";
import { repeatViewChange } from "../view-change/view-change.ts";
import { isAcceptedAfterRestart } from "../safety/safety-rules.ts";

export function startReplica(core: Core, how: Start): void {
  core.timers.lastProgressMs = core.clock.nowMs;
  core.timers.leaderHeardMs = core.clock.nowMs;
  core.timers.viewEnteredMs = core.clock.nowMs;
  switch (how.kind) {
    case "bootstrap":
      boot(core);
      return;
    case "empty":
      core.probe = { nonce: how.nonce, isEmpty: true, answers: new Map() };
      return;
    case "resume":
      resume(core, how);
  }
}

/** The very first start of all: the only one that may lead the view it starts in. */
function boot(core: Core): void {
  core.booted = true;
  core.mode = "active";
  core.mayLead = true;
  core.probe = undefined;
  append(core, { kind: "boot" });
  append(core, takeSnapshot(core));
  core.epochLsn = core.lsn;
}

function resume(core: Core, how: Extract<Start, { readonly kind: "resume" }>): void {
  replay(core, how.records, how.nonce);
  core.mayLead = false;
  core.isAccepted = isAcceptedAfterRestart(core.view, core.votedView);
  // Replay kept the tip of a view that we voted in; in any other the view starts afresh.
  const isBelowFinal = core.tip.height < core.final.link.height && !core.isTipConflicting;
  if (core.votedView !== core.view || isBelowFinal) core.tip = core.final.link;
  // Replay may have read records that were never durable: nothing that depends on them is sent
  // before they are written again.
  append(core, takeSnapshot(core));
  core.epochLsn = core.lsn;
  core.rejoinLsn = core.lsn;
  if (core.mode !== "probing") return;
  // A log without its beginning counts as lost.
  core.probe = { nonce: how.nonce, isEmpty: !core.booted, answers: new Map() };
}

/** Asks peers which of our messages they hold, until enough have answered. */
export function sendProbe(core: Core): void {
  const { probe, timers, clock, parameters } = core;
  if (probe === undefined || clock.nowMs < timers.nextResendMs) return;
  timers.nextResendMs = clock.nowMs + parameters.timing.resendMs;
  for (let peer = 0; peer < core.quorum.replicaCount; peer++) {
    if (peer !== core.self && !probe.answers.has(peer)) {
      sendNow(core, peer, { kind: "probe", nonce: probe.nonce });
    }
  }
}

/**
 * Every replica answers, also while it is probing itself: otherwise a common restart would never
 * end.
 */
export function onProbe(core: Core, from: ReplicaIndex, message: Probe): void {
  core.witness.noteCertificate(core.final.certificate);
  core.witness.noteCertificate(core.highCert);
  const { vote, commit } = core.witness.of(from);
  const viewChange = core.views.changes.get(from)?.message;
  const isUntouched =
    vote === undefined &&
    commit === undefined &&
    viewChange === undefined &&
    core.votedView === -1 &&
    core.epoch === 0 &&
    core.view === 0 &&
    core.final.link.height === 0;
  const { nonce } = message;
  core.effects.push({
    kind: "send",
    to: from,
    message: { kind: "probeAnswer", nonce, isUntouched, vote, commit, viewChange },
  });
}

export function onProbeAnswer(
  core: Core,
  from: ReplicaIndex,
  message: ProbeAnswer,
): Result<void, Rejection> {
  const { probe } = core;
  if (probe?.nonce !== message.nonce) return err({ code: "MESSAGE_UNWANTED" });
  if (probe.isEmpty ? !message.isUntouched : isForgotten(core, message)) {
    loseLog(core, probe.nonce);
    return ok(undefined);
  }
  probe.answers.set(from, { isUntouched: message.isUntouched });
  const needed = probe.isEmpty ? core.quorum.replicaCount - 1 : 2 * core.quorum.faultsMax;
  if (probe.answers.size < needed) return ok(undefined);
  if (probe.isEmpty) boot(core);
  else becomeActive(core);
  return ok(undefined);
}

/** Whether a peer holds something we signed that our log does not know: it was rolled back. */
function isForgotten(core: Core, message: ProbeAnswer): boolean {
  return (
    isForgottenVote(core, message.vote) ||
    isForgottenCommit(core, message.commit) ||
    isForgottenPromise(core, message.viewChange)
  );
}

function isForgottenVote(core: Core, vote: Vote | undefined): boolean {
  if (vote?.sender !== core.self) return false;
  if (vote.epoch !== core.epoch) return vote.epoch > core.epoch;
  if (vote.view !== core.votedView) return vote.view > core.votedView;
  return vote.height > (core.votedTip?.height ?? -1);
}

function isForgottenCommit(core: Core, commit: Commit | undefined): boolean {
  if (commit?.sender !== core.self) return false;
  if (commit.epoch !== core.epoch) return commit.epoch > core.epoch;
  const { highCert } = core;
  const knownView = highCert.epoch === core.epoch ? highCert.view : -1;
  if (commit.view !== knownView) return commit.view > knownView;
  return commit.height > highCert.height;
}

function isForgottenPromise(core: Core, change: ViewChange | undefined): boolean {
  if (change?.sender !== core.self) return false;
  if (change.epoch !== core.epoch) return change.epoch > core.epoch;
  return change.newView > core.view;
}

function becomeActive(core: Core): void {
  core.probe = undefined;
  core.mode = "active";
  core.timers.nextResendMs = 0;
  recallOwn(core);
  // A restarted leader may have proposed here before: it must not propose again (PROTOCOL §5.4).
  stepDown(core);
}

/** What we sent before the restart counts for us as it does for the others. */
function recallOwn(core: Core): void {
  for (const ballot of ownBallots(core)) {
    if (ballot.height > core.final.link.height) core.ballots.add(ballot);
  }
  const change = repeatViewChange(core);
  if (change !== undefined) onViewChange(core, change);
}

/**
 * The log is gone or rolled back: the replica signs nothing until an epoch begins that carries its
 * nonce.
 */
function loseLog(core: Core, nonce: Hash): void {
  invariant(core.mode === "probing", "a log is found lost before anything is signed");
  core.probe = undefined;
  core.mode = "observer";
  core.rejoinNonce = nonce;
  append(core, { kind: "rejoin", nonce });
  core.rejoinLsn = core.lsn;
  notice(core, { code: "ROLLED_BACK", nonce });
}

/** An observer that has caught up asks for the epoch that lets it in (PROTOCOL §9.3). */
export function requestRejoin(core: Core): void {
  const { rejoinNonce: nonce, timers, clock, parameters } = core;
  if (core.mode !== "observer" || nonce === undefined) return;
  if (core.syncedLsn < core.rejoinLsn || clock.nowMs < timers.nextResendMs) return;
  timers.nextResendMs = clock.nowMs + 5 * parameters.timing.resendMs;
  const known = core.peers.filter((peer, index) => index !== core.self && peer.isUp);
  // One Byzantine replica must not keep us out: it is enough that f+1 are not ahead.
  const level = known.filter(({ epoch, finalHeight }) => {
    return epoch <= core.epoch && finalHeight <= core.final.link.height + parameters.execLagMax;
  });
  if (level.length < core.quorum.weak) return;
  const statement = { kind: "rejoin", member: core.self, epoch: core.epoch, nonce } as const;
  const rejoin = { ...statement, signature: core.ports.signRejoin(statement) };
  sendNow(core, "all", { kind: "forwardRejoin", rejoin });
}

/**
 * Epochs (PROTOCOL §9.3). A final Rejoin ends an epoch; the next one has the same members and keys,
 * starts at view 0 with the boundary as its base, and makes every vote and commit of the one before
 * void. This allows a replica that lost its log to take part again.
 */
import type { Header, Rejoin } from "../block.ts";
import { append, finalPoint, notice, type Core } from "../core.ts";

/** Called right after the boundary became final. */
export function enterEpoch(core: Core, rejoin: Rejoin): void {
  const { header } = core.final.link;
  core.rejoinedAtMs[rejoin.member] = header.timestampMs;
  const isOwn = rejoin.member === core.self;
  const isJoining = isOwn && core.mode === "observer" && rejoin.nonce === core.rejoinNonce;
  if (isOwn && core.mode === "probing" && core.probe !== undefined) {
    // This replica is still probing. The boundary is an answer: our log is not the newest one.
    core.probe = { ...core.probe, isEmpty: true };
  } else if (isOwn && !isJoining && core.mode !== "observer") {
    // Another instance holds our key and was admitted: every further signature of ours could
    // conflict with one of its own.
    core.mode = "stopped";
    notice(core, { code: "KEY_SUPERSEDED", nonce: rejoin.nonce });
    return;
  }
  append(core, {
    kind: "epoch",
    epoch: header.epoch + 1,
    boundary: finalPoint(core.final),
    isJoining,
  });
  core.epochLsn = core.lsn;
  resetForEpoch(core, header.epoch + 1);
  core.mayLead = true;
  notice(core, { code: "EPOCH_ENTERED", epoch: core.epoch });
  if (isJoining) {
    core.rejoinNonce = undefined;
    core.booted = true;
    core.mode = "active";
    notice(core, { code: "EPOCH_JOINED", epoch: core.epoch });
  }
}

/** The state at the start of an epoch whose boundary is the final block. */
export function resetForEpoch(core: Core, epoch: number): void {
  core.epoch = epoch;
  core.boundary = core.final;
  core.view = 0;
  core.isAccepted = true;
  core.isTipConflicting = false;
  core.tip = core.final.link;
  core.votedView = -1;
  core.votedTip = undefined;
  core.ownVotes = [];
  core.highCert = core.final.certificate;
  core.outbox.dropBallotsBelow(epoch, 0);
  core.tree.clear();
  core.proposals.clear();
  core.ballots.clear();
  core.pendingRejoins.clear();
  core.views.changes.clear();
  core.views.reached.clear();
  core.views.complaints.clear();
  core.views.ownComplaint = undefined;
  core.views.abdicate = undefined;
  core.views.newViews.clear();
  core.views.acceptedNewView = undefined;
  core.views.sentNewViewIn = -1;
  core.views.lastProposed = undefined;
  core.views.evidence.clear();
  core.views.failedLeaders.clear();
  core.timers.failures = 0;
  core.timers.hasFinalizedInView = false;
  core.timers.viewEnteredMs = core.clock.nowMs;
  core.timers.quorumInViewMs = undefined;
  core.timers.leaderHeardMs = core.clock.nowMs;
}

/** The Rejoin that a leader should propose now, if any (PROTOCOL §9.3). */
export function dueRejoin(
  core: Core,
): { readonly rejoin: Rejoin; readonly sinceMs: number } | undefined {
  const parentMs = core.tree.link(core.tip)?.header.timestampMs ?? 0;
  const timestampMs = Math.max(core.clock.wallMs, parentMs + 1);
  for (const pending of core.pendingRejoins.values()) {
    if (isRejoinAllowed(core, pending.rejoin, { epoch: core.epoch, timestampMs })) return pending;
  }
  return undefined;
}

/** Whether a block may carry this Rejoin; decided from the chain alone. */
export function isRejoinAllowed(
  core: Core,
  rejoin: Rejoin,
  header: Pick<Header, "epoch" | "timestampMs">,
): boolean {
  const lastMs = core.rejoinedAtMs[rejoin.member];
  if (lastMs === undefined || rejoin.epoch !== core.epoch || header.epoch !== core.epoch) {
    return false;
  }
  return lastMs === -1 || header.timestampMs >= lastMs + core.parameters.rejoinIntervalMs;
}

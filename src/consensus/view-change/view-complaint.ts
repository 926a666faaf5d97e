/** Complaints: wishes to leave a view, which bind their senders to nothing (PROTOCOL §6.1). */
import type { ReplicaIndex } from "../block.ts";
import { notice, sendNow, signed, type Core } from "../core.ts";
import type { Complaint, SuspicionReason } from "../message.ts";

/**
 * A complaint is a lease: its sender renews it every retransmission interval while its reason
 * lasts, so one that was not renewed for longer has no reason any more. One renewal may be lost.
 */
const LEASE_RESENDS = 2.5;

export function complain(core: Core, reason: SuspicionReason): void {
  if (core.mode !== "active" || core.views.ownComplaint !== undefined) return;
  const { epoch, view, self: sender } = core;
  const complaint = signed(core, { kind: "complaint", epoch, sender, view, reason });
  core.views.ownComplaint = complaint;
  noteComplaint(core, sender, complaint);
  sendNow(core, "all", complaint);
  core.timers.nextResendMs = core.clock.nowMs + core.parameters.timing.resendMs;
  notice(core, { code: "LEADER_SUSPECTED", view, reason });
}

/**
 * Notifies the others that the reason is gone. Otherwise the complaint would count until its lease
 * ends, together with the next short-lived complaint of another replica.
 */
export function withdrawComplaint(core: Core): void {
  const { epoch, view, self: sender } = core;
  core.views.ownComplaint = undefined;
  core.views.complaints.delete(sender);
  const reason = "withdrawn";
  sendNow(core, "all", signed(core, { kind: "complaint", epoch, sender, view, reason }));
}

export function noteComplaint(core: Core, from: ReplicaIndex, message: Complaint): void {
  const { complaints } = core.views;
  if (message.reason !== "withdrawn") {
    complaints.set(message.sender, { message, atMs: core.clock.nowMs });
  } else if (from === message.sender) {
    // Over its own link only: a Byzantine leader could otherwise replay old withdrawals of all the
    // others and never be replaced.
    complaints.delete(message.sender);
  }
}

/** The complaints about the current view that still stand. */
export function standingComplaints(core: Core): readonly Complaint[] {
  const oldestMs = core.clock.nowMs - LEASE_RESENDS * core.parameters.timing.resendMs;
  const standing: Complaint[] = [];
  for (const [sender, { message, atMs }] of core.views.complaints) {
    if (sender === core.self || atMs >= oldestMs) standing.push(message);
  }
  return standing.sort((a, b) => a.sender - b.sender);
}

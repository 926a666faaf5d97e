/** Complaints: wishes to leave a view that bind nobody (PROTOCOL §6.1). */
import { notice, sendNow, signed, type Core } from "../core.ts";
import type { Complaint, ComplaintReason } from "../message.ts";

/** A complaint that is not repeated fades after so many resends. */
const LIFETIME_RESENDS = 6;

export function complain(core: Core, reason: ComplaintReason): void {
  if (core.mode !== "active" || core.views.ownComplaint !== undefined) return;
  const { epoch, view, self: sender } = core;
  const complaint = signed(core, { kind: "complaint", epoch, sender, view, reason });
  core.views.ownComplaint = complaint;
  noteComplaint(core, complaint);
  sendNow(core, "all", complaint);
  core.timers.nextResendMs = core.clock.nowMs + core.parameters.timing.resendMs;
  notice(core, { code: "LEADER_SUSPECTED", view, reason });
}

export function noteComplaint(core: Core, message: Complaint): void {
  core.views.complaints.set(message.sender, { message, atMs: core.clock.nowMs });
}

/** The complaints about the current view that still stand. */
export function standingComplaints(core: Core): readonly Complaint[] {
  const oldestMs = core.clock.nowMs - LIFETIME_RESENDS * core.parameters.timing.resendMs;
  const standing: Complaint[] = [];
  for (const [sender, { message, atMs }] of core.views.complaints) {
    if (sender === core.self || atMs >= oldestMs) standing.push(message);
  }
  return standing.sort((a, b) => a.sender - b.sender);
}

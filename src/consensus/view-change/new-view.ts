/** The start of a view: the leader's NewView, and how each replica accepts it (PROTOCOL §6.4). */
import { err, ok, type Result } from "../../base/result.ts";
import type { BlockRef } from "../block.ts";
import { selectBase, type BaseSelection } from "../safety/base-selection.ts";
import { isFinalCert } from "../certificate.ts";
import {
  leader,
  noteReached,
  notice,
  sendAfterSync,
  signed,
  type Core,
  type NewViewEntry,
  type ViewChangeEntry,
} from "../core.ts";
import { haltOnConflict, learnFinality } from "../agreement/finality.ts";
import type { NewView, ViewChange } from "../message.ts";
import { leaderOf } from "../quorum.ts";
import type { Rejection } from "../rejection.ts";
import { reportOf } from "./view-change.ts";
import { enterView } from "./view-entry.ts";
import { mustVoteBase } from "../safety/safety-rules.ts";
import { castVote } from "../agreement/voter.ts";

export function onViewChange(core: Core, message: ViewChange): Result<void, Rejection> {
  const known = core.views.changes.get(message.sender)?.message;
  if (known !== undefined && !isNewer(message, known)) return err({ code: "MESSAGE_DUPLICATE" });
  const report = reportOf(core, message);
  if (report === undefined) return err({ code: "VIEW_CHANGE_INVALID" });
  core.views.changes.set(message.sender, { message, report });
  noteReached(core, message.sender, message.newView);
  learnFinality(core, message.finalCert);
  if (isFinalCert(message.highCert)) learnFinality(core, message.highCert);
  return ok(undefined);
}

/** A replica may send its ViewChange again with more final blocks below it. */
function isNewer(message: ViewChange, known: ViewChange): boolean {
  if (message.newView !== known.newView) return message.newView > known.newView;
  return message.finalCert.height > known.finalCert.height;
}

export function onNewView(core: Core, message: NewView): Result<void, Rejection> {
  const { view } = message;
  if (view < core.view || (view === core.view && core.isAccepted)) {
    return err({ code: "MESSAGE_VIEW_PAST" });
  }
  if (message.sender !== leaderOf(view, core.quorum.replicaCount)) {
    return err({ code: "MESSAGE_NOT_FROM_LEADER" });
  }
  if (core.views.newViews.has(view)) return err({ code: "NEW_VIEW_NOT_FIRST" });
  const choice = choiceOf(core, message);
  if (choice === undefined) return err({ code: "NEW_VIEW_INVALID" });
  if (choice === "conflict") {
    haltOnConflict(core, core.final.link.height);
    return err({ code: "REPLICA_STOPPED" });
  }
  for (const change of message.viewChanges) learnFinality(core, change.finalCert);
  if (view > core.view) {
    // 2f+1 replicas entered this view: the network is in it (PROTOCOL §6.5).
    if (core.mode !== "active" && core.mode !== "diverged") return ok(undefined);
    enterView(core, view);
  }
  core.views.newViews.set(view, { message, choice });
  return ok(undefined);
}

/** The choice that the message justifies; undefined when it does not justify any. */
function choiceOf(core: Core, message: NewView): BaseSelection | "conflict" | undefined {
  const { viewChanges, view } = message;
  const senders = new Set(viewChanges.map(({ sender }) => sender));
  if (senders.size !== core.quorum.quorum || viewChanges.length !== senders.size) return undefined;
  const reports = [];
  for (const change of viewChanges) {
    const report = change.newView === view ? reportOf(core, change) : undefined;
    if (report === undefined) return undefined;
    reports.push(report);
  }
  return selectBase(reports, core.quorum.weak) ?? "conflict";
}

/** The leader of a view states its base once it has the ViewChanges of 2f+1 replicas. */
export function createNewView(core: Core): boolean {
  const { views, view } = core;
  if (core.mode !== "active" || core.isAccepted || !core.mayLead || leader(core) !== core.self) {
    return false;
  }
  if (views.sentNewViewIn === view || views.newViews.has(view)) return false;
  const entries = [...views.changes.values()].filter(({ message }) => message.newView === view);
  if (entries.length < core.quorum.quorum) return false;
  const chosen = entries.sort(preferred(core)).slice(0, core.quorum.quorum);
  const choice = selectBase(
    chosen.map(({ report }) => report),
    core.quorum.weak,
  );
  if (choice === undefined) {
    haltOnConflict(core, core.final.link.height);
    return false;
  }
  const viewChanges = chosen.map(({ message }) => message).sort((a, b) => a.sender - b.sender);
  const { epoch, self: sender } = core;
  const message = signed(core, { kind: "newView", epoch, sender, view, viewChanges });
  views.sentNewViewIn = view;
  views.newViews.set(view, { message, choice });
  sendAfterSync(core, "all", message);
  return true;
}

/** Our own report first, then those that know most final blocks; ties by sender. */
function preferred(core: Core): (a: ViewChangeEntry, b: ViewChangeEntry) => number {
  const rank = ({ message }: ViewChangeEntry): number =>
    message.sender === core.self ? Infinity : message.finalCert.height;
  return (a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x === y ? a.message.sender - b.message.sender : y > x ? 1 : -1;
  };
}

/** Accepts the first valid NewView of the view once its final blocks and its base are held. */
export function acceptNewView(core: Core): boolean {
  if (core.isAccepted || (core.mode !== "active" && core.mode !== "diverged")) return false;
  const entry = core.views.newViews.get(core.view);
  if (entry === undefined) return false;
  const { base, final, path } = entry.choice;
  if (final.height > core.final.link.height) return false;
  const missing = path.some(
    ({ height, hash }) => height > core.final.link.height && core.tree.get(hash) === undefined,
  );
  if (missing) return false;
  if (conflictsWithFinal(core, base)) {
    haltOnConflict(core, core.final.link.height);
    return false;
  }
  accept(core, entry);
  return true;
}

/** Far below our final block the headers are gone: what cannot be compared proves nothing. */
function conflictsWithFinal(core: Core, base: BlockRef): boolean {
  const own: BlockRef = core.final.link;
  if (base.height > own.height) return !core.tree.isAncestor(own, base);
  const kept = core.tree.finalLink(base.height);
  return kept !== undefined && kept.hash !== base.hash;
}

function accept(core: Core, { message, choice }: NewViewEntry): void {
  core.isAccepted = true;
  core.views.acceptedNewView = message;
  core.timers.leaderHeardMs = core.clock.nowMs;
  core.timers.lastProgressMs = core.clock.nowMs;
  core.tip = choice.base;
  // Whether to vote depends on the reports only, so that all who accept decide alike.
  if (core.mode === "active" && mustVoteBase(choice.base, choice.final)) {
    castVote(core, choice.base);
  }
  if (core.final.link.height > core.tip.height) core.tip = core.final.link;
  notice(core, { code: "VIEW_ACCEPTED", epoch: core.epoch, view: core.view });
}

/**
 * Messages from peers: each kind's first checks, then the rule that it belongs to (PROTOCOL §3).
 */
import { unreachable } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { Ballot } from "./agreement/ballots.ts";
import type { ReplicaIndex } from "./block.ts";
import {
  offerFinality,
  onBlockRequest,
  onBlockResponse,
  onBodyRequest,
  onBodyResponse,
  onStatus,
} from "./recovery/catch-up.ts";
import { noteComplaint } from "./view-change/view-complaint.ts";
import { leader, noteReached, sendAfterSync, type Core } from "./core.ts";
import { accuse, isProof } from "./view-change/evidence.ts";
import { onExecVote } from "./agreement/execution-agreement.ts";
import { learnFinality } from "./agreement/finality.ts";
import type { Abdicate, Complaint, Evidence, Finality, Message, Status } from "./message.ts";
import { onNewView, onViewChange } from "./view-change/new-view.ts";
import type { Rejection } from "./rejection.ts";
import { onProbe, onProbeAnswer } from "./recovery/recovery.ts";
import { repeatViewChange } from "./view-change/view-change.ts";
import { enterView } from "./view-change/view-entry.ts";
import { onPropose } from "./agreement/voter.ts";

type Outcome = Result<void, Rejection>;

const DONE: Outcome = ok(undefined);

export function onMessage(
  core: Core,
  from: ReplicaIndex,
  message: Message,
  transactionsValid: boolean,
): Outcome {
  const refused = checkOrigin(core, from, message);
  if (refused !== undefined) return err(refused);
  if (from === leader(core)) core.timers.leaderHeardMs = core.clock.nowMs;
  switch (message.kind) {
    case "propose":
      return onPropose(core, from, message, transactionsValid);
    case "vote":
    case "commit":
      return onBallot(core, from, message);
    case "abdicate":
      return onAbdicate(core, message);
    case "complaint":
      return onComplaint(core, from, message);
    case "viewChange":
      return onViewChange(core, message);
    case "newView":
      return onNewView(core, message);
    case "execVote":
      return onExecVote(core, message);
    case "evidence":
      return onEvidence(core, message);
    case "bodyResponse":
      return onBodyResponse(core, message, transactionsValid);
    case "blockResponse":
      return onBlockResponse(core, message);
    case "probeAnswer":
      return onProbeAnswer(core, from, message);
    case "forward":
      return transactionsValid
        ? onTransaction(core, message.transaction)
        : err({ code: "PROPOSAL_TRANSACTION_INVALID" });
    case "status":
    case "finality":
    case "bodyRequest":
    case "blockRequest":
    case "newViewRequest":
    case "forwardRejoin":
    case "probe":
      return onService(core, from, message);
    default:
      return unreachable(message);
  }
}

/** Requests and status messages, which have nothing to validate. */
function onService(
  core: Core,
  from: ReplicaIndex,
  message: Extract<
    Message,
    {
      readonly kind:
        | "status"
        | "finality"
        | "bodyRequest"
        | "blockRequest"
        | "newViewRequest"
        | "forwardRejoin"
        | "probe";
    }
  >,
): Outcome {
  switch (message.kind) {
    case "status":
      onStatus(core, from, message);
      helpIntoView(core, from, message);
      break;
    case "finality":
      onFinality(core, message);
      break;
    case "bodyRequest":
      onBodyRequest(core, from, message);
      break;
    case "blockRequest":
      onBlockRequest(core, from, message);
      break;
    case "newViewRequest": {
      const { acceptedNewView } = core.views;
      if (acceptedNewView !== undefined && message.view === core.view) {
        sendAfterSync(core, from, acceptedNewView);
      }
      break;
    }
    case "forwardRejoin": {
      const { rejoin } = message;
      const known = core.pendingRejoins.get(rejoin.member)?.rejoin;
      if (rejoin.epoch === core.epoch && known?.nonce !== rejoin.nonce) {
        core.pendingRejoins.set(rejoin.member, { rejoin, sinceMs: core.clock.nowMs });
      }
      break;
    }
    case "probe":
      onProbe(core, from, message);
      break;
    default:
      unreachable(message);
  }
  return DONE;
}

/** Who may say it, and whether it belongs to our epoch. */
function checkOrigin(core: Core, from: ReplicaIndex, message: Message): Rejection | undefined {
  if (from === core.self) return { code: "MESSAGE_FROM_SELF" };
  if (from < 0 || from >= core.quorum.replicaCount) return { code: "MESSAGE_SENDER_UNKNOWN" };
  const signer = "sender" in message ? message : undefined;
  if (signer === undefined) return undefined;
  if (signer.sender < 0 || signer.sender >= core.quorum.replicaCount) {
    return { code: "MESSAGE_SENDER_UNKNOWN" };
  }
  if (signer.sender === core.self) return { code: "MESSAGE_FROM_SELF" };
  // Results are signed under the epoch of their block, which may be the one before.
  if (message.kind === "execVote" || signer.epoch === core.epoch) return undefined;
  if (signer.epoch > core.epoch) return { code: "MESSAGE_EPOCH_FUTURE" };
  offerFinality(core, from);
  return { code: "MESSAGE_EPOCH_PAST" };
}

function onBallot(core: Core, from: ReplicaIndex, ballot: Ballot): Outcome {
  core.witness.note(ballot);
  noteReached(core, ballot.sender, ballot.view);
  const { height: finalHeight } = core.final.link;
  if (ballot.height <= finalHeight) {
    offerFinality(core, from);
    return err({ code: "MESSAGE_HEIGHT_OUTSIDE_WINDOW" });
  }
  if (ballot.view < core.view) return err({ code: "MESSAGE_VIEW_PAST" });
  if (ballot.height > finalHeight + 2 * core.parameters.window) {
    return err({ code: "MESSAGE_HEIGHT_OUTSIDE_WINDOW" });
  }
  if (ballot.view > core.view + core.quorum.replicaCount) {
    return err({ code: "MESSAGE_VIEW_TOO_FAR" });
  }
  const added =
    ballot.view === core.view ? core.ballots.add(ballot) : core.ballots.addFuture(ballot);
  if (added === "new") return DONE;
  if (added === "same") return err({ code: "MESSAGE_DUPLICATE" });
  const { first } = added;
  if (first.kind === "vote" && ballot.kind === "vote") {
    accuse(core, { kind: "evidence", first, second: ballot });
  } else if (first.kind === "commit" && ballot.kind === "commit") {
    accuse(core, { kind: "evidence", first, second: ballot });
  }
  return err({ code: "MESSAGE_EQUIVOCATION" });
}

function onAbdicate(core: Core, message: Abdicate): Outcome {
  if (message.view < core.view) return err({ code: "MESSAGE_VIEW_PAST" });
  if (message.view > core.view) return err({ code: "MESSAGE_VIEW_TOO_FAR" });
  if (message.sender !== leader(core)) return err({ code: "MESSAGE_NOT_FROM_LEADER" });
  core.views.abdicate ??= message;
  return DONE;
}

function onComplaint(core: Core, from: ReplicaIndex, message: Complaint): Outcome {
  noteReached(core, message.sender, message.view);
  if (message.view < core.view) return err({ code: "MESSAGE_VIEW_PAST" });
  if (message.view > core.view) return err({ code: "MESSAGE_VIEW_TOO_FAR" });
  noteComplaint(core, from, message);
  return DONE;
}

function onEvidence(core: Core, message: Evidence): Outcome {
  if (!isProof(message) || message.first.epoch !== core.epoch) {
    return err({ code: "EVIDENCE_INVALID" });
  }
  return accuse(core, message) ? DONE : err({ code: "MESSAGE_DUPLICATE" });
}

function onFinality(core: Core, { certificate }: Finality): void {
  learnFinality(core, certificate);
  const isAhead = certificate.epoch === core.epoch && certificate.view > core.view;
  // Blocks became final in a higher view: a quorum is there (PROTOCOL §6.5).
  if (isAhead && core.mode === "active") enterView(core, certificate.view);
}

/** A peer in a lower view missed something; retransmit it, at a limited rate. */
function helpIntoView(core: Core, from: ReplicaIndex, message: Status): void {
  const peer = core.peers[from];
  if (peer === undefined) return;
  const { nowMs } = core.clock;
  const isBehind = message.epoch === core.epoch && message.view < core.view;
  if (!isBehind || nowMs < peer.nextHelpMs) return;
  if (core.mode !== "active" && core.mode !== "diverged") return;
  peer.nextHelpMs = nowMs + core.parameters.timing.resendMs;
  const change = repeatViewChange(core);
  if (change !== undefined) sendAfterSync(core, from, change);
  const { acceptedNewView } = core.views;
  if (acceptedNewView !== undefined) sendAfterSync(core, from, acceptedNewView);
}

/** A transaction from a client or a peer joins the queue. */
export function onTransaction(
  core: Core,
  transaction: Extract<Message, { readonly kind: "forward" }>["transaction"],
): Outcome {
  const { blockBytesMax, blockGasMax } = core.parameters;
  if (transaction.bytes.length > blockBytesMax || transaction.gas > blockGasMax) {
    return err({ code: "TRANSACTION_TOO_LARGE" });
  }
  switch (core.pending.add(transaction, core.clock.nowMs)) {
    case "added":
      return DONE;
    case "known":
      return err({ code: "TRANSACTION_KNOWN" });
    case "full":
      return err({ code: "POOL_FULL" });
  }
}

/**
 * A replica of the consensus protocol as a pure, synchronous state machine (PROTOCOL §4).
 *
 * Inputs come in one at a time; each returns the effects that the driver must carry out, in order.
 * No I/O, no clock, no randomness, nothing asynchronous: the same inputs give the same effects on
 * every machine, so a whole network runs inside one test process under a virtual clock.
 */
import { unreachable } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import { stepDown } from "./view-change/step-down.ts";
import type { Hash, ReplicaIndex, Transaction } from "./block.ts";
import { fetchMissing, nextFetchMs } from "./recovery/catch-up.ts";
import { castCommits } from "./agreement/committer.ts";
import { createCore, leader, type Core, type Mode } from "./core.ts";
import type { Clock, Effect, Input } from "./effect.ts";
import { onExecuted } from "./agreement/execution-agreement.ts";
import { applyFinality } from "./agreement/finality.ts";
import type { Snapshot } from "./log-record.ts";
import type { Message } from "./message.ts";
import { acceptNewView, createNewView, onViewChange } from "./view-change/new-view.ts";
import type { Parameters, Ports } from "./parameters.ts";
import { propose } from "./agreement/proposer.ts";
import { onMessage, onTransaction } from "./message-handler.ts";
import type { Rejection } from "./rejection.ts";
import {
  forwardPending,
  hurryHeartbeat,
  isStuck,
  nextForwardMs,
  resendTo,
  resendWhenStuck,
  sendHeartbeat,
} from "./retransmission.ts";
import { takeSnapshot } from "./recovery/replay.ts";
import { applyRules, type Rule } from "./rule-loop.ts";
import type { Start } from "./recovery/start.ts";
import { requestRejoin, sendProbe, startReplica } from "./recovery/recovery.ts";
import { nextDeadlineMs, watchLeader } from "./view-change/view-timer.ts";
import { complainOfByzantineLeader, joinHigherView, leaveView } from "./view-change/view-entry.ts";
import { castVotes } from "./agreement/voter.ts";

/** What one input led to. A refused input may still let time pass: carry the effects out anyway. */
export type StepResult = {
  readonly effects: readonly Effect[];
  readonly rejection: Rejection | undefined;
  /** Which of the submitted transactions were refused; `rejection` is that of the first. */
  readonly refused: readonly RejectedSubmission[];
};

export type RejectedSubmission = Rejection & { readonly id: Hash };

const NONE_REFUSED: readonly RejectedSubmission[] = [];

export type ReplicaStatus = {
  readonly mode: Mode;
  readonly epoch: number;
  readonly view: number;
  readonly leader: ReplicaIndex;
  readonly isAccepted: boolean;
  readonly finalHeight: number;
  readonly finalHash: Hash;
  readonly tipHeight: number;
  readonly execHeight: number;
  readonly pendingCount: number;
  /** How much is buffered, for the test that everything is bounded (PROTOCOL §11). */
  readonly buffered: {
    readonly blocks: number;
    readonly ballots: number;
    readonly outbox: number;
    readonly execVotes: number;
    readonly viewChanges: number;
  };
};

/**
 * The rules in the order they are tried after every input, until none applies. Nothing is
 * remembered as "to be done": whatever the state allows is done, however it came about (PROTOCOL
 * §4.3).
 */
const RULES: readonly Rule[] = [
  applyFinality,
  joinHigherView,
  complainOfByzantineLeader,
  watchLeader,
  leaveView,
  createNewView,
  acceptNewView,
  castVotes,
  castCommits,
  propose,
];

export class Replica {
  readonly #core: Core;

  constructor(parameters: Parameters, ports: Ports) {
    this.#core = createCore(parameters, ports);
  }

  /** Starts the replica. Called once, before any step. */
  start(how: Start, clock: Clock): readonly Effect[] {
    const core = this.#core;
    core.clock = clock;
    core.effects = [];
    startReplica(core, how);
    return this.#finish();
  }

  step(input: Input, clock: Clock): StepResult {
    const core = this.#core;
    core.clock = clock;
    core.effects = [];
    if (core.mode === "stopped") {
      return { effects: [], rejection: { code: "REPLICA_STOPPED" }, refused: NONE_REFUSED };
    }
    if (input.kind === "submit") {
      const refused = this.#queue(input.transactions);
      return { effects: this.#finish(), rejection: refused[0], refused };
    }
    const handled = this.#handle(input);
    const effects = this.#finish();
    return { effects, rejection: handled.ok ? undefined : handled.error, refused: NONE_REFUSED };
  }

  /** When the next `tick` is due on the monotonic clock; undefined when nothing is waited for. */
  wakeAtMs(): number | undefined {
    const core = this.#core;
    if (core.mode === "stopped") return undefined;
    const { timers } = core;
    const moments = [
      timers.nextHeartbeatMs,
      timers.commitDueMs,
      timers.proposeDueMs,
      timers.heldUntilMs,
      nextDeadlineMs(core),
      nextFetchMs(core),
      nextForwardMs(core),
      this.#nextRepeatMs(),
    ].filter((moment) => moment !== undefined);
    return Math.min(...moments);
  }

  /** All that safety needs, as the first record of a new log segment (PROTOCOL §7). */
  snapshot(): Snapshot {
    return takeSnapshot(this.#core);
  }

  status(): ReplicaStatus {
    const core = this.#core;
    let execVotes = 0;
    for (const bySender of core.execution.votes.values()) execVotes += bySender.size;
    return {
      mode: core.mode,
      epoch: core.epoch,
      view: core.view,
      leader: leader(core),
      isAccepted: core.isAccepted,
      finalHeight: core.final.link.height,
      finalHash: core.final.link.hash,
      tipHeight: core.tip.height,
      execHeight: core.execution.height,
      pendingCount: core.pending.size,
      buffered: {
        blocks: core.tree.size,
        ballots: core.ballots.size,
        outbox: core.outbox.size,
        execVotes,
        viewChanges: core.views.changes.size,
      },
    };
  }

  #queue(transactions: readonly Transaction[]): readonly RejectedSubmission[] {
    const refused: RejectedSubmission[] = [];
    for (const transaction of transactions) {
      const queued = onTransaction(this.#core, transaction);
      if (!queued.ok) refused.push({ ...queued.error, id: transaction.id });
    }
    return refused;
  }

  #handle(input: Exclude<Input, { readonly kind: "submit" }>): Result<void, Rejection> {
    const core = this.#core;
    switch (input.kind) {
      case "message":
        return onMessage(core, input.from, input.message, input.transactionsValid);
      case "withdraw":
        core.pending.withdraw(input.id);
        return ok(undefined);
      case "synced":
        this.#onSynced(input.lsn);
        return ok(undefined);
      case "executed":
        onExecuted(core, input.height, input.result);
        return ok(undefined);
      case "link":
        return this.#onLink(input.peer, input.isUp);
      case "retire":
        if (core.mode === "active") stepDown(core);
        return ok(undefined);
      case "tick":
        return ok(undefined);
      default:
        return unreachable(input);
    }
  }

  #onLink(index: ReplicaIndex, isUp: boolean): Result<void, Rejection> {
    const peer = this.#core.peers[index];
    if (peer === undefined) return err({ code: "MESSAGE_SENDER_UNKNOWN" });
    if (!isUp && peer.isUp) peer.downSinceMs = this.#core.clock.nowMs;
    peer.isUp = isUp;
    peer.hasBeenUp ||= isUp;
    if (isUp) resendTo(this.#core, index);
    return ok(undefined);
  }

  /** What was waiting for the disk leaves now, and counts for ourselves from now on. */
  #onSynced(lsn: number): void {
    const core = this.#core;
    core.syncedLsn = Math.max(core.syncedLsn, lsn);
    for (const { to, message } of core.outbox.release(core.syncedLsn)) {
      core.effects.push({ kind: "send", to, message });
      if (to === "all") this.#countOwn(message);
    }
  }

  #countOwn(message: Message): void {
    const core = this.#core;
    if (message.kind === "viewChange" && message.epoch === core.epoch) onViewChange(core, message);
    if (message.kind !== "vote" && message.kind !== "commit") return;
    const isCurrent = message.epoch === core.epoch && message.view === core.view;
    if (isCurrent && message.height > core.final.link.height) core.ballots.add(message);
  }

  /** Applies the rules until nothing changes, then lets time act. */
  #finish(): readonly Effect[] {
    const core = this.#core;
    // Before the rules: what the leader was given counts as work from this moment on.
    forwardPending(core);
    applyRules(core, RULES);
    if (core.mode !== "stopped") {
      hurryHeartbeat(core);
      sendProbe(core);
      requestRejoin(core);
      sendHeartbeat(core);
      resendWhenStuck(core);
      fetchMissing(core);
    }
    const isWaiting = core.outbox.size > 0 || core.syncedLsn < core.rejoinLsn;
    if (isWaiting && core.lsn > core.syncAskedLsn) {
      core.syncAskedLsn = core.lsn;
      core.effects.push({ kind: "sync", lsn: core.lsn });
    }
    return core.effects;
  }

  #nextRepeatMs(): number | undefined {
    const core = this.#core;
    const { timers, parameters } = core;
    const isAskingIn = core.mode === "observer" && core.syncedLsn >= core.rejoinLsn;
    if (core.probe !== undefined || isAskingIn || isStuck(core)) return timers.nextResendMs;
    const takesPart = core.mode === "active" || core.mode === "diverged";
    if (!takesPart || timers.workSinceMs === undefined) return undefined;
    const sinceMs = Math.max(timers.workSinceMs, timers.lastProgressMs);
    return Math.max(timers.nextResendMs, sinceMs + parameters.timing.resendMs);
  }
}

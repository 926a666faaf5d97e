/**
 * Takes the state of a peer instead of executing a long past (docs/adr/0011-state-transfer.md).
 * One peer after the other: an offer, the signed results that prove its head, chunks until the end,
 * the root. A peer that is silent, slow, refuses or lies costs one attempt; what it sent is thrown
 * away.
 *
 * Execution goes on beside it and pauses only for the last step, in which a complete state replaces
 * the old one: no peer can make this replica stop executing.
 */
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import type { Logger } from "../../base/logger.ts";
import type { ReplicaIndex } from "../../consensus/block.ts";
import {
  decodeStateMessage,
  SNAPSHOT_CHUNK_TYPE,
  stateMessageType,
  type StateAnswer,
  type StateCursor,
  type StateRequest,
} from "../../wire/state-codec.ts";
import type {
  ExecutionReady,
  ImportCommand,
  ImportOutcome,
} from "../execution/execution-messages.ts";
import { proveOffer, SnapshotResultVotes, type ProvedOffer } from "./snapshot-proof.ts";

export type TransferTiming = {
  /** How long a peer may take for an answer. */
  readonly answerMs: number;
  /** How long signed results are collected, and how often they are asked for. */
  readonly resultsMs: number;
  readonly resultsRetryMs: number;
  /** Between two rounds over all peers. */
  readonly roundMs: number;
  /** How long chunks may be waited for in total, besides what CHUNK_BYTES_PER_MS_MIN allows. */
  readonly slackMs: number;
};

export const DEFAULT_TRANSFER_TIMING: TransferTiming = {
  answerMs: 10_000,
  resultsMs: 5_000,
  resultsRetryMs: 200,
  roundMs: 2_000,
  slackMs: 10_000,
};

export type TransferDependencies = {
  readonly logger: Logger;
  readonly timing: TransferTiming;
  /** f+1: that many equal signed results are believed. */
  readonly weakQuorum: number;
  readonly peersUp: () => readonly ReplicaIndex[];
  readonly send: (to: ReplicaIndex, request: StateRequest) => void;
  /** Whether the vote is signed by whom it says. */
  readonly isSigned: (vote: Extract<StateAnswer, { kind: "signedResult" }>["vote"]) => boolean;
  readonly importState: (command: ImportCommand) => Promise<ImportOutcome>;
  /** Whether a state of this height would still be ahead of what was given to be executed. */
  readonly isNeeded: (height: number) => boolean;
  /** Execution stands still and nothing reads the state's files when it resolves. */
  readonly pause: () => Promise<void>;
  /** After a pause that ended without a new state. */
  readonly resume: () => void;
};

/** What came of all attempts: the state that is in use now, or nothing. */
export type Transferred = { readonly ready: ExecutionReady; readonly peer: ReplicaIndex };

type Expectation = {
  readonly from: ReplicaIndex;
  /** The answer, or undefined if this message is not it. */
  readonly accept: (bytes: Uint8Array) => boolean;
  readonly fail: (code: string) => void;
};

const ROUNDS_MAX = 3;
/** A peer that serves more slowly than this, after the slack, is left for another one. */
const CHUNK_BYTES_PER_MS_MIN = 128;
const START: StateCursor = { address: 0n, slot: undefined };

export class StateTransfer {
  readonly #dependencies: TransferDependencies;
  #expected: Expectation | undefined;
  #votes: SnapshotResultVotes | undefined;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(dependencies: TransferDependencies) {
    this.#dependencies = dependencies;
  }

  /** Tries every peer, some times over. Undefined if none could give a state from `minHeight` on. */
  async run(minHeight: number): Promise<Transferred | undefined> {
    const { peersUp, logger, timing } = this.#dependencies;
    const byzantine = new Set<ReplicaIndex>();
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (round > 0) await this.#sleep(timing.roundMs);
      if (this.#isOver()) return undefined;
      for (const peer of shuffled(peersUp())) {
        if (this.#isOver() || byzantine.has(peer)) continue;
        const startMs = performance.now();
        const ready = await this.#attempt(peer, minHeight, byzantine);
        if (ready === undefined) continue;
        const ms = Math.round(performance.now() - startMs);
        logger.info("state taken from a peer", { peer, height: ready.height, ms });
        return { ready, peer };
      }
    }
    return undefined;
  }

  /** An answer on the state channel, as it came. Whether it was asked for. */
  onAnswer(from: ReplicaIndex, bytes: Uint8Array): boolean {
    if (this.#expected?.from === from && this.#expected.accept(bytes)) return true;
    if (stateMessageType(bytes) === SNAPSHOT_CHUNK_TYPE) return false;
    const decoded = decodeStateMessage(bytes);
    if (!decoded.ok || decoded.value.kind !== "signedResult") return false;
    return this.#onVote(from, decoded.value.vote);
  }

  onDown(peer: ReplicaIndex): void {
    if (this.#expected?.from === peer) this.#expected.fail("SNAPSHOT_PEER_DOWN");
  }

  stop(): void {
    this.#isStopped = true;
    this.#expected?.fail("SNAPSHOT_STOPPED");
    this.#wake?.();
  }

  /** Another method may have stopped it while this one waited; the compiler cannot know. */
  #isOver(): boolean {
    return this.#isStopped;
  }

  async #attempt(
    peer: ReplicaIndex,
    minHeight: number,
    byzantine: Set<ReplicaIndex>,
  ): Promise<ExecutionReady | undefined> {
    const { logger, send, importState } = this.#dependencies;
    let snapshot: number | undefined;
    try {
      const offer = await this.#askForOffer(peer, minHeight);
      snapshot = offer.snapshot;
      const proved = await this.#prove(offer, minHeight);
      return await this.#fetch(peer, snapshot, proved);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      if (this.#isStopped) return undefined;
      if (error instanceof Lie) byzantine.add(peer);
      const isLie = error instanceof Lie;
      logger.warn("a peer gave no state", { peer, code: error.code, isLie });
      await importState({ kind: "abandon" });
      return undefined;
    } finally {
      if (snapshot !== undefined) send(peer, { kind: "snapshotRelease", snapshot });
    }
  }

  #askForOffer(
    peer: ReplicaIndex,
    minHeight: number,
  ): Promise<Extract<StateAnswer, { readonly kind: "snapshotOffer" }>> {
    return this.#ask(peer, { kind: "snapshotRequest", minHeight }, (bytes) => {
      if (stateMessageType(bytes) === SNAPSHOT_CHUNK_TYPE) return undefined;
      const decoded = decodeStateMessage(bytes);
      if (!decoded.ok) throw new Lie(decoded.error.code);
      if (decoded.value.kind === "snapshotRefused") throw new CodedError(decoded.value.code);
      return decoded.value.kind === "snapshotOffer" ? decoded.value : undefined;
    });
  }

  /** Collects signed results of the offered height until f+1 agree, and compares. */
  async #prove(
    offer: Extract<StateAnswer, { readonly kind: "snapshotOffer" }>,
    minHeight: number,
  ): Promise<ProvedOffer> {
    const { weakQuorum, timing, peersUp, send } = this.#dependencies;
    const proved = proveOffer(offer.height, offer.headers);
    if (!proved.ok) throw new Lie(proved.error);
    if (offer.height < minHeight) throw new Lie("SNAPSHOT_TOO_LOW");
    const votes = new SnapshotResultVotes(offer.height, weakQuorum);
    this.#votes = votes;
    const endMs = performance.now() + timing.resultsMs;
    while (votes.certified() === undefined && performance.now() < endMs && !this.#isOver()) {
      for (const peer of peersUp()) {
        if (!votes.has(peer)) send(peer, { kind: "resultRequest", height: offer.height });
      }
      await this.#sleep(timing.resultsRetryMs);
    }
    this.#votes = undefined;
    const certified = votes.certified();
    if (certified === undefined) throw new CodedError("SNAPSHOT_RESULT_UNKNOWN");
    if (certified !== proved.value.result) throw new Lie("SNAPSHOT_RESULT_WRONG");
    return proved.value;
  }

  async #fetch(peer: ReplicaIndex, snapshot: number, offer: ProvedOffer): Promise<ExecutionReady> {
    const { importState, timing } = this.#dependencies;
    valueOf(await importState({ kind: "begin", offer }));
    let cursor: StateCursor | undefined = START;
    let waitLeftMs = timing.slackMs;
    while (cursor !== undefined) {
      this.#assertNeeded(offer);
      const askedMs = performance.now();
      const chunk: Uint8Array = await this.#askForChunk(peer, snapshot, cursor);
      waitLeftMs -= performance.now() - askedMs;
      waitLeftMs = Math.min(waitLeftMs + chunk.length / CHUNK_BYTES_PER_MS_MIN, timing.slackMs);
      if (waitLeftMs < 0) throw new CodedError("SNAPSHOT_PEER_SLOW");
      cursor = valueOf(await importState({ kind: "add", chunk })).next;
    }
    return this.#finish(offer);
  }

  async #finish(offer: ProvedOffer): Promise<ExecutionReady> {
    const { importState, pause, resume } = this.#dependencies;
    await pause();
    try {
      // Nothing more is executed from here on, so what is decided now stays true.
      this.#assertNeeded(offer);
      const { ready } = valueOf(await importState({ kind: "finish" }));
      if (ready === undefined) throw new CodedError("SNAPSHOT_GONE");
      return ready;
    } catch (error) {
      resume();
      throw error;
    }
  }

  /** Blocks were executed meanwhile, perhaps beyond the height that is being taken. */
  #assertNeeded({ height }: ProvedOffer): void {
    if (!this.#dependencies.isNeeded(height))
      throw new CodedError("SNAPSHOT_OVERTAKEN", { height });
  }

  #askForChunk(peer: ReplicaIndex, snapshot: number, cursor: StateCursor): Promise<Uint8Array> {
    return this.#ask(peer, { kind: "chunkRequest", snapshot, cursor }, (bytes) => {
      // Looked into by the thread that builds the state; a copy, because the frame is a view.
      if (stateMessageType(bytes) === SNAPSHOT_CHUNK_TYPE) return Uint8Array.from(bytes);
      const decoded = decodeStateMessage(bytes);
      if (decoded.ok && decoded.value.kind !== "snapshotRefused") return undefined;
      throw decoded.ok ? new CodedError("SNAPSHOT_GONE") : new Lie(decoded.error.code);
    });
  }

  /** `read` gives the answer, undefined for another message, or throws what is wrong with it. */
  #ask<Answer>(
    peer: ReplicaIndex,
    request: StateRequest,
    read: (bytes: Uint8Array) => Answer | undefined,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const end = (act: () => void): void => {
        clearTimeout(timer);
        this.#expected = undefined;
        act();
      };
      const fail = (error: Error): void => end(() => reject(error));
      const { answerMs } = this.#dependencies.timing;
      const timer = setTimeout(() => fail(new CodedError("SNAPSHOT_PEER_SILENT")), answerMs);
      this.#expected = {
        from: peer,
        accept(bytes) {
          try {
            const answer = read(bytes);
            if (answer === undefined) return false;
            end(() => resolve(answer));
          } catch (error) {
            invariant(error instanceof CodedError, "what is wrong with an answer has a code");
            fail(error);
          }
          return true;
        },
        fail: (code) => fail(new CodedError(code)),
      };
      this.#dependencies.send(peer, request);
    });
  }

  #onVote(
    from: ReplicaIndex,
    vote: Extract<StateAnswer, { readonly kind: "signedResult" }>["vote"],
  ): boolean {
    const votes = this.#votes;
    if (votes === undefined || vote.sender !== from || !this.#dependencies.isSigned(vote)) {
      return false;
    }
    votes.add(vote);
    if (votes.certified() !== undefined) this.#wake?.();
    return true;
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

/** What no correct replica does: its sender is not asked again in this transfer. */
class Lie extends CodedError {}

function valueOf(outcome: ImportOutcome): Extract<ImportOutcome, { readonly ok: true }>["value"] {
  if (outcome.ok) return outcome.value;
  if (outcome.error === "DISK_FULL") throw new CodedError(outcome.error);
  throw new Lie(outcome.error);
}

/** In an order of its own each time, so that several who ask do not all ask the same. */
function shuffled(peers: readonly ReplicaIndex[]): ReplicaIndex[] {
  const order = [...peers];
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}

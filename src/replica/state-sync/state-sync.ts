/**
 * The state channel of a replica: serves snapshots and signed results to those who lost their
 * state, and decides when to take one itself.
 */
import type { Logger } from "../../base/logger.ts";
import type { ReplicaIndex } from "../../consensus/block.ts";
import type { ExecVote } from "../../consensus/message.ts";
import {
  decodeStateMessage,
  encodeStateMessage,
  SNAPSHOT_CHUNK_TYPE,
  stateMessageType,
  type StateMessage,
  type StateRequest,
} from "../../wire/state-codec.ts";
import type { ExecutionReady } from "../execution/execution-messages.ts";
import { SnapshotServer } from "./snapshot-server.ts";
import {
  DEFAULT_TRANSFER_TIMING,
  StateTransfer,
  type TransferDependencies,
  type TransferTiming,
} from "./state-transfer.ts";

export type StateSyncOptions = {
  readonly statePath: string;
  /** The state is taken from a peer when it is at least so many heights behind. */
  readonly gapMin: number;
  readonly timing?: Partial<TransferTiming> | undefined;
};

export type StateSyncDependencies = Pick<
  TransferDependencies,
  "peersUp" | "isSigned" | "importState" | "weakQuorum"
> & {
  readonly logger: Logger;
  readonly isActive: () => boolean;
  readonly executedHeight: () => number;
  /** The last height that was given to be executed. */
  readonly fedHeight: () => number;
  /** Our signed result of a height; undefined if there is none or it must not be signed. */
  readonly signedResult: (height: number) => ExecVote | undefined;
  /** The bytes of one message, without the channel. */
  readonly send: (to: ReplicaIndex, bytes: Uint8Array) => void;
  /** Execution leaves time on its thread for a state that is being taken, or need not any more. */
  readonly share: (isShared: boolean) => void;
  /**
   * Execution stops while a complete state replaces the old one; it goes on, or goes on from the
   * new one. It never stops for what a peer has yet to send.
   */
  readonly hold: () => void;
  readonly release: () => void;
  readonly replace: (ready: ExecutionReady) => void;
  readonly onRefused: (from: ReplicaIndex, code: string) => void;
  readonly onFailed: (error: unknown) => void;
};

export const DEFAULT_GAP_MIN = 1_000;
/** After no peer could give a state: blocks are executed meanwhile. */
const RETRY_MS = 60_000;

export class StateSync {
  readonly #options: StateSyncOptions;
  readonly #dependencies: StateSyncDependencies;
  readonly #server: SnapshotServer;
  #transfer: StateTransfer | undefined;
  #retryFromMs = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(options: StateSyncOptions, dependencies: StateSyncDependencies) {
    const { logger, isActive, executedHeight, send } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#server = new SnapshotServer({
      statePath: options.statePath,
      logger,
      servableHeight: () => (isActive() && !this.#isPaused ? executedHeight() : undefined),
      send,
    });
  }

  get isTransferring(): boolean {
    return this.#transfer !== undefined;
  }

  /**
   * Decides whether to take a state, from a final height that a peer claims. The claim may be
   * false. It costs some requests, and execution goes on until a state has been
   * proved, taken and checked.
   */
  consider(finalHeight: number): void {
    const { executedHeight, logger } = this.#dependencies;
    const { gapMin } = this.#options;
    const height = executedHeight();
    if (this.#isClosed || this.#transfer !== undefined || finalHeight - height < gapMin) return;
    if (performance.now() < this.#retryFromMs) return;
    logger.info("taking the state of a peer", { from: height, finalHeight });
    this.#run(height + gapMin).catch((error: unknown) => this.#dependencies.onFailed(error));
  }

  onDown(peer: ReplicaIndex): void {
    this.#server.onDown(peer);
    this.#transfer?.onDown(peer);
  }

  /** The bytes of one message, without the channel. */
  onFrame(from: ReplicaIndex, bytes: Uint8Array): void {
    if (this.#transfer?.onAnswer(from, bytes) === true) return;
    // A chunk is large: without a transfer it is not decoded.
    const isChunk = stateMessageType(bytes) === SNAPSHOT_CHUNK_TYPE;
    const decoded = isChunk ? undefined : decodeStateMessage(bytes);
    if (decoded?.ok === true) this.#onMessage(from, decoded.value);
    else this.#dependencies.onRefused(from, decoded?.error.code ?? "MESSAGE_UNASKED");
  }

  #onMessage(from: ReplicaIndex, message: StateMessage): void {
    const { onRefused, signedResult, send } = this.#dependencies;
    switch (message.kind) {
      case "resultRequest": {
        const vote = signedResult(message.height);
        if (vote !== undefined) send(from, encodeStateMessage({ kind: "signedResult", vote }));
        return;
      }
      case "snapshotRequest":
      case "chunkRequest":
      case "snapshotRelease":
        this.#server.onRequest(from, message);
        return;
      case "snapshotOffer":
      case "snapshotChunk":
      case "signedResult":
      case "snapshotRefused":
        onRefused(from, "MESSAGE_UNASKED");
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#transfer?.stop();
    await this.#server.close();
  }

  async #run(minHeight: number): Promise<void> {
    const { logger, peersUp, isSigned, importState, weakQuorum } = this.#dependencies;
    const { share, fedHeight } = this.#dependencies;
    const transfer = new StateTransfer({
      ...{ logger, peersUp, isSigned, importState, weakQuorum },
      timing: { ...DEFAULT_TRANSFER_TIMING, ...this.#options.timing },
      send: (to, request: StateRequest) => this.#dependencies.send(to, encodeStateMessage(request)),
      isNeeded: (height) => height > fedHeight(),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    this.#transfer = transfer;
    share(true);
    const taken = await transfer.run(minHeight);
    this.#transfer = undefined;
    share(false);
    if (this.#isClosed) return;
    if (taken !== undefined) {
      this.#isPaused = false;
      this.#dependencies.replace(taken.ready);
      return;
    }
    logger.warn("no peer gave its state: executing all blocks instead", { minHeight });
    this.#retryFromMs = performance.now() + RETRY_MS;
  }

  async #pause(): Promise<void> {
    this.#isPaused = true;
    this.#dependencies.hold();
    // A thread of it would read files that are about to be replaced.
    await this.#server.close();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#dependencies.release();
  }
}

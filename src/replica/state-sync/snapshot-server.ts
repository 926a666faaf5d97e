/**
 * Lets one peer at a time read this replica's state as it was at one height. Everything about it is
 * bounded: one snapshot, one chunk under way, a limit to how long a peer may pause and to how long
 * it may take, because the database cannot reuse what a snapshot still sees.
 */
import { Worker } from "node:worker_threads";
import type { Logger } from "../../base/logger.ts";
import type { ReplicaIndex } from "../../consensus/block.ts";
import {
  encodeStateMessage,
  type SnapshotRefusal,
  type StateCursor,
  type StateRequest,
} from "../../wire/state-codec.ts";
import type { SnapshotEvent, SnapshotRequest, SnapshotWorkerOptions } from "./snapshot-worker.ts";

export type SnapshotServerDependencies = {
  readonly statePath: string;
  readonly logger: Logger;
  /** How far this replica has executed; undefined while it should not serve. */
  readonly servableHeight: () => number | undefined;
  /** The bytes of one message. */
  readonly send: (to: ReplicaIndex, bytes: Uint8Array) => void;
};

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./snapshot-worker.ts" : "./snapshot-worker.js",
  import.meta.url,
);
const PAUSE_MAX_MS = 15_000;
const OPEN_MAX_MS = 10 * 60_000;
/** Between two snapshots for one peer: opening one is the dearest thing to ask for. */
const REOPEN_MS = 1_000;
const SNAPSHOT_IDS = 2 ** 32;

type Serving = {
  readonly peer: ReplicaIndex;
  readonly snapshot: number;
  readonly worker: Worker;
  readonly openedMs: number;
  isReading: boolean;
  pause: NodeJS.Timeout | undefined;
};

export class SnapshotServer {
  readonly #dependencies: SnapshotServerDependencies;
  readonly #openedAtMs = new Map<ReplicaIndex, number>();
  #serving: Serving | undefined;
  #closing: Promise<void> = Promise.resolve();
  #lastSnapshot = 0;

  constructor(dependencies: SnapshotServerDependencies) {
    this.#dependencies = dependencies;
  }

  onRequest(
    from: ReplicaIndex,
    request: Exclude<StateRequest, { readonly kind: "resultRequest" }>,
  ): void {
    switch (request.kind) {
      case "snapshotRequest":
        this.#open(from, request.minHeight);
        return;
      case "chunkRequest":
        this.#read(from, request.snapshot, request.cursor);
        return;
      case "snapshotRelease":
        if (this.#isServing(from, request.snapshot)) this.#end();
    }
  }

  onDown(peer: ReplicaIndex): void {
    if (this.#serving?.peer === peer) this.#end();
  }

  /** Resolves when no thread reads the state any more. */
  async close(): Promise<void> {
    this.#end();
    await this.#closing;
  }

  #open(from: ReplicaIndex, minHeight: number): void {
    const { servableHeight, logger } = this.#dependencies;
    if (this.#serving?.peer === from) this.#end();
    const height = servableHeight();
    const nowMs = performance.now();
    const isEarly = nowMs < (this.#openedAtMs.get(from) ?? -Infinity) + REOPEN_MS;
    let refusal: SnapshotRefusal | undefined;
    if (height === undefined) refusal = "SNAPSHOT_UNAVAILABLE";
    else if (height < minHeight) refusal = "SNAPSHOT_TOO_LOW";
    else if (this.#serving !== undefined || isEarly) refusal = "SNAPSHOT_BUSY";
    if (refusal !== undefined) {
      this.#refuse(from, refusal);
      return;
    }
    this.#openedAtMs.set(from, nowMs);
    const snapshot = ++this.#lastSnapshot % SNAPSHOT_IDS;
    const options: SnapshotWorkerOptions = { statePath: this.#dependencies.statePath, snapshot };
    const worker = new Worker(WORKER_URL, { workerData: options });
    const serving: Serving = {
      ...{ peer: from, snapshot, worker, openedMs: nowMs },
      ...{ isReading: true, pause: undefined },
    };
    this.#serving = serving;
    worker.on("message", (event: SnapshotEvent) => this.#onEvent(serving, event, minHeight));
    worker.on("error", (error) => {
      logger.warn("a snapshot could not be read", { peer: from, reason: String(error) });
      if (this.#serving === serving) this.#end();
    });
    this.#watch(serving);
    logger.info("serving a snapshot", { peer: from, snapshot });
  }

  #onEvent(serving: Serving, event: SnapshotEvent, minHeight: number): void {
    if (this.#serving !== serving || event.kind === "closed") return;
    serving.isReading = false;
    this.#watch(serving);
    const { peer } = serving;
    if (event.kind === "read") this.#dependencies.send(peer, event.chunk);
    else if (event.height >= minHeight) this.#dependencies.send(peer, event.offer);
    else {
      // What is written lags behind what is executed.
      this.#refuse(peer, "SNAPSHOT_TOO_LOW");
      this.#end();
    }
  }

  #read(from: ReplicaIndex, snapshot: number, cursor: StateCursor): void {
    const serving = this.#serving;
    if (serving === undefined || !this.#isServing(from, snapshot)) {
      this.#refuse(from, "SNAPSHOT_GONE");
      return;
    }
    if (serving.isReading) return;
    if (performance.now() > serving.openedMs + OPEN_MAX_MS) {
      this.#end();
      this.#refuse(from, "SNAPSHOT_GONE");
      return;
    }
    serving.isReading = true;
    this.#watch(serving);
    post(serving.worker, { kind: "read", cursor });
  }

  #isServing(peer: ReplicaIndex, snapshot: number): boolean {
    return this.#serving?.peer === peer && this.#serving.snapshot === snapshot;
  }

  #watch(serving: Serving): void {
    clearTimeout(serving.pause);
    serving.pause = setTimeout(() => {
      if (this.#serving === serving) this.#end();
    }, PAUSE_MAX_MS).unref();
  }

  #end(): void {
    const serving = this.#serving;
    if (serving === undefined) return;
    this.#serving = undefined;
    clearTimeout(serving.pause);
    const { worker, peer, snapshot } = serving;
    this.#dependencies.logger.info("snapshot closed", { peer, snapshot });
    // The transaction is closed by the thread itself: one that is just ended leaves it open.
    const closed = new Promise<void>((resolve) => {
      worker.on("message", (event: SnapshotEvent) => {
        if (event.kind === "closed") resolve();
      });
      worker.on("exit", () => resolve());
      worker.on("error", () => resolve());
      post(worker, { kind: "close" });
    });
    this.#closing = Promise.all([this.#closing, closed.then(() => worker.terminate())]).then(
      () => undefined,
    );
  }

  #refuse(to: ReplicaIndex, code: SnapshotRefusal): void {
    this.#dependencies.send(to, encodeStateMessage({ kind: "snapshotRefused", code }));
  }
}

function post(worker: Worker, request: SnapshotRequest): void {
  worker.postMessage(request);
}

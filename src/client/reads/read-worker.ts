/**
 * A thread that runs calls, traces and proofs, one at a time, on the state as of any retained
 * block: it has its own handle on the state store, and gets what is not written yet by message.
 */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../base/invariant.ts";
import { AnalyzedCodeCache } from "../../evm/analyzed-code.ts";
import type { ChainRules } from "../../chain/chain-rules.ts";
import type { ReadSource } from "../../execution/calls/read-environment.ts";
import {
  runReadJob,
  type ReadKind,
  type ReadParams,
  type ReadResults,
} from "../../execution/calls/read-job.ts";
import { StateMirror } from "../../state/state-mirror.ts";
import { StateStore, type StateSnapshot } from "../../storage/state-store.ts";
import { readNumberRecord } from "../sync/block-numbers.ts";

export type ReadWorkerOptions = {
  readonly statePath: string;
  readonly rules: ChainRules;
  readonly gasMax: bigint;
  readonly resultBytesMax: number;
  /** One 32-bit number: the ticket of the job that must stop. */
  readonly stop: SharedArrayBuffer;
};

/** What the main thread's state has beyond the store and beyond what the thread was told before. */
export type StateUpdate = {
  readonly unwritten: Uint8Array<ArrayBuffer>;
  /** What it was told before is in the store by now. */
  readonly isWritten: boolean;
  /** The hashes of all blocks that are not written. */
  readonly hashes: readonly (readonly [number: bigint, hash: Uint8Array])[];
};

export type ReadRequest<Kind extends ReadKind = ReadKind> =
  | {
      readonly kind: "job";
      readonly ticket: number;
      readonly job: Kind;
      readonly params: ReadParams[Kind];
      readonly update: StateUpdate;
    }
  | { readonly kind: "close" };

export type ReadAnswer =
  /** The thread is there and begins with its first job now. */
  | { readonly ticket: 0 }
  | { readonly ticket: number; readonly result: ReadResults[ReadKind] }
  /** Our fault, or that of the disk. */
  | { readonly ticket: number; readonly error: string };

const CODE_CACHE_BYTES = 8_000_000;
const ANALYSIS_CACHE_BYTES = 32_000_000;

class ReadThread {
  readonly #options: ReadWorkerOptions;
  readonly #store: StateStore;
  readonly #mirror: StateMirror;
  readonly #codes = new AnalyzedCodeCache(ANALYSIS_CACHE_BYTES);
  readonly #stop: Int32Array;
  #snapshot: StateSnapshot | undefined;
  #hashes: ReadonlyMap<bigint, Uint8Array> = new Map();

  constructor(options: ReadWorkerOptions) {
    this.#options = options;
    this.#stop = new Int32Array(options.stop);
    this.#store = StateStore.openReader(options.statePath);
    this.#mirror = new StateMirror(
      {
        get: (key) => this.#disk().get(key),
        seek: (from) => this.#disk().seek(from),
      },
      CODE_CACHE_BYTES,
    );
  }

  run<Kind extends ReadKind>(
    ticket: number,
    kind: Kind,
    params: ReadParams[Kind],
    update: StateUpdate,
  ): ReadResults[Kind] {
    this.#mirror.absorb(update.unwritten, update.isWritten);
    this.#hashes = new Map(update.hashes);
    // Taken after the update was made, so it has all that the main thread had written by then.
    this.#snapshot = this.#store.snapshot();
    try {
      const { gasMax, resultBytesMax } = this.#options;
      const shouldStop = (): boolean => Atomics.load(this.#stop, 0) === ticket;
      return runReadJob(kind, params, this.#source(), { gasMax, resultBytesMax, shouldStop });
    } finally {
      this.#snapshot.close();
      this.#snapshot = undefined;
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #source(): ReadSource {
    return {
      rules: this.#options.rules,
      codes: this.#codes,
      stateAt: (number) => this.#mirror.at(number),
      prove: (number, address, slots) => this.#mirror.prove(number, address, slots),
      trialStateRoot: (number, changed) => this.#mirror.trialStateRoot(number, changed),
      blockHash: (number) => this.#blockHash(number),
    };
  }

  #blockHash(number: bigint): Uint8Array {
    const hash = this.#hashes.get(number) ?? readNumberRecord(this.#disk(), number)?.hash;
    invariant(hash !== undefined, "every block of the chain is known by its number");
    return hash;
  }

  #disk(): StateSnapshot {
    invariant(this.#snapshot !== undefined, "the state is read while a job runs");
    return this.#snapshot;
  }
}

function main(): void {
  invariant(parentPort !== null, "this file is the entry of a thread");
  const port = parentPort;
  const thread = new ReadThread(workerData as ReadWorkerOptions);
  const post = (answer: ReadAnswer): void => port.postMessage(answer);
  post({ ticket: 0 });
  port.on("message", (request: ReadRequest) => {
    if (request.kind === "close") {
      void thread.close().finally(() => port.close());
      return;
    }
    const { ticket, job, params, update } = request;
    try {
      post({ ticket, result: thread.run(ticket, job, params, update) });
    } catch (error) {
      post({ ticket, error: String(error) });
    }
  });
}

main();

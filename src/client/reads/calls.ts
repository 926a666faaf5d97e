/**
 * Calls, estimates, traces and proofs on the state after any retained block. Most calls are over in
 * a few microseconds, less than a thread takes to be asked: those run at once. What does not end
 * soon is begun anew in a thread, where it cannot hold the node up; so is what cannot be short.
 */
import type { CallerNamer } from "../../api/chain-reader.ts";
import { availableParallelism } from "node:os";
import { err } from "../../base/result.ts";
import { SlowWorkMeter } from "../../execution/slow-work-meter.ts";
import { isLightRead } from "../../execution/calls/light-read.ts";
import type { ReadBounds, ReadSource } from "../../execution/calls/read-environment.ts";
import {
  runReadJob,
  type ReadKind,
  type ReadParams,
  type ReadResults,
} from "../../execution/calls/read-job.ts";
import type { Logger } from "../../base/logger.ts";
import { invariant } from "../../base/invariant.ts";
import { unwrittenState, type ChainExecutor } from "../sync/chain-executor.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { CallLimits } from "../client-options.ts";
import { EventLoopShare } from "./event-loop-share.ts";
import { ReadWorkers } from "./read-workers.ts";

export type CallsOptions = CallLimits & { readonly statePath: string };

export type CallDependencies = {
  readonly executor: ChainExecutor;
  readonly reader: ChainReader;
  readonly logger: Logger;
};

/** What the node's own thread gives to one call: it is looked at every 32,768 gas. */
const INLINE_MS = 1;
/** A few signatures. One precompile cannot be interrupted. */
const INLINE_PRECOMPILE_GAS = 15_000;

/** A quarter of a millisecond of KECCAK256. One hash cannot be interrupted, either. */
const INLINE_HASH_BYTES_MAX = 65_536;

/**
 * Opcodes in a row without a look at the time: half a millisecond of divisions, or three where they
 * are not compiled yet. Contracts have a few hundred; the largest init code has room for 49,152.
 */
const INLINE_RUN_MAX = 2_048;

const UNNAMED_CALLER = "";
/** One caller never has all threads, so that another finds one: that takes two. */
const WORKERS_LEAST = 2;

export class Calls {
  readonly #options: CallsOptions;
  readonly #dependencies: CallDependencies;
  readonly #workers: ReadWorkers;
  readonly #source: ReadSource;
  /** Calls run on this thread one after the other. */
  readonly #meter = new SlowWorkMeter(INLINE_PRECOMPILE_GAS);
  readonly #share = new EventLoopShare();

  constructor(options: CallsOptions, dependencies: CallDependencies) {
    const { executor, logger } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#workers = new ReadWorkers(
      { ...options, workersMax: workersFor(options.workersMax), rules: executor.rules },
      {
        update: (since) => unwrittenState(executor, since),
        onDied: (reason) => logger.warn("a read thread died", { reason }),
      },
    );
    this.#source = createSource(dependencies);
  }

  get threadCount(): number {
    return this.#workers.threadCount;
  }

  /** `number` is the last block whose state it reads. */
  run<Kind extends ReadKind>(
    kind: Kind,
    params: ReadParams[Kind],
    number: bigint,
    caller?: CallerNamer,
  ): ReadResults[Kind] | Promise<ReadResults[Kind]> {
    const { reader } = this.#dependencies;
    if (reader.stateReaderAt(number) === undefined) {
      return err({ kind: "pruned" });
    }
    if (!this.#isQuick(kind, params, number)) return this.#runInThread(kind, params, caller);
    if (this.#share.isSpent) {
      return this.#share.next().then(() => this.run(kind, params, number, caller));
    }
    const result = this.#share.run(() =>
      runReadJob(kind, params, this.#source, this.#inlineBounds()),
    );
    const isCut = !result.ok && result.error.kind === "stopped";
    return isCut ? this.#runInThread(kind, params, caller) : result;
  }

  close(): Promise<void> {
    return this.#workers.close();
  }

  async #runInThread<Kind extends ReadKind>(
    kind: Kind,
    params: ReadParams[Kind],
    caller: CallerNamer | undefined,
  ): Promise<ReadResults[Kind]> {
    const name = caller === undefined ? UNNAMED_CALLER : await caller();
    return this.#workers.run(kind, params, name);
  }

  /** Whether it is worth a try on this thread. */
  #isQuick<Kind extends ReadKind>(kind: Kind, params: ReadParams[Kind], number: bigint): boolean {
    // The tries of the latest block are in memory; those of others are made first.
    const { latestBlock } = this.#dependencies.executor.database;
    if (kind === "proof" && number !== latestBlock) return false;
    return isLightRead(kind, params);
  }

  #inlineBounds(): ReadBounds {
    const { gasMax, resultBytesMax } = this.#options;
    const endMs = performance.now() + INLINE_MS;
    this.#meter.renew();
    return {
      gasMax,
      resultBytesMax,
      shouldStop: () => performance.now() > endMs,
      bulkBytesMax: INLINE_HASH_BYTES_MAX,
      runMax: INLINE_RUN_MAX,
      meter: this.#meter,
    };
  }
}

function workersFor(workersMax: number): number {
  return Math.min(workersMax, Math.max(WORKERS_LEAST, availableParallelism() - 1));
}

function createSource({ executor, reader }: CallDependencies): ReadSource {
  return {
    rules: executor.rules,
    codes: executor.codes,
    stateAt: (number) => {
      const state = reader.stateReaderAt(number);
      invariant(state !== undefined, "the state was there before");
      return state;
    },
    prove: (number, address, slots) => {
      const proof = executor.database.prove(number, address, slots);
      invariant(proof !== undefined, "the state was there before");
      return proof;
    },
    trialStateRoot: (number, changed) => executor.database.trialStateRoot(number, changed),
    blockHash: (number) => reader.hashOf(number),
  };
}

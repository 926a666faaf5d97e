/**
 * The threads that run what may take long, as the main thread sees them. Callers take turns, and
 * one caller alone never has all threads: however long its jobs run, the next caller's job finds
 * one. Threads are started when there is something to do and ended when there has been nothing for
 * a while: an idle node holds no memory for them. A job that does not stop in time ends with its
 * thread; the next one gets a new thread.
 */
import { Worker } from "node:worker_threads";
import { CodedError } from "../../base/coded-error.ts";
import { err } from "../../base/result.ts";
import type { CallFailure } from "../../api/call-request.ts";
import type { ChainRules } from "../../chain/chain-rules.ts";
import type { ReadKind, ReadParams, ReadResults } from "../../execution/calls/read-job.ts";
import type { StateMark } from "../../state/state-database.ts";
import { FairQueue } from "./fair-queue.ts";
import type { ReadAnswer, ReadRequest, ReadWorkerOptions, StateUpdate } from "./read-worker.ts";

export type ReadWorkersOptions = {
  readonly statePath: string;
  readonly rules: ChainRules;
  readonly gasMax: bigint;
  /** How long a job may run. */
  readonly timeMaxMs: number;
  /** How long it may take to notice that it must stop. */
  readonly stopGraceMs: number;
  readonly resultBytesMax: number;
  readonly workersMax: number;
  /** Jobs that wait for a thread, of all callers and of one, and how long they may. */
  readonly waitingMax: number;
  readonly waitingCallerMax: number;
  readonly waitMaxMs: number;
  /** How long a thread may have nothing to do. */
  readonly idleMaxMs: number;
};

export type ReadWorkersDependencies = {
  /** What a thread must be told that has seen the state as of the mark, or nothing of it. */
  readonly update: (since: StateMark | undefined) => StateUpdate & { readonly mark: StateMark };
  /** A thread died. */
  readonly onDied: (reason: string) => void;
};

type Job = {
  readonly caller: string;
  readonly kind: ReadKind;
  readonly params: ReadParams[ReadKind];
  readonly dueMs: number;
  /** The kind of the result is that of the job. */
  readonly resolve: (result: ReadResults[ReadKind]) => void;
  readonly reject: (error: CodedError) => void;
};

type Thread = {
  readonly worker: Worker;
  readonly stop: Int32Array;
  mark: StateMark | undefined;
  job: Job | undefined;
  ticket: number;
  isReady: boolean;
  timer: NodeJS.Timeout | undefined;
};

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./read-worker.ts" : "./read-worker.js",
  import.meta.url,
);
const START_MS_MAX = 20_000;
const HEAP_MB_MAX = 512;

export class ReadWorkers {
  readonly #options: ReadWorkersOptions;
  readonly #dependencies: ReadWorkersDependencies;
  readonly #threads = new Set<Thread>();
  readonly #queue: FairQueue<Job>;
  #isClosed = false;

  constructor(options: ReadWorkersOptions, dependencies: ReadWorkersDependencies) {
    const { waitingMax, waitingCallerMax, workersMax } = options;
    const runningCallerMax = Math.max(1, workersMax - 1);
    this.#options = options;
    this.#dependencies = dependencies;
    this.#queue = new FairQueue({ waitingMax, waitingCallerMax, runningCallerMax });
  }

  get threadCount(): number {
    return this.#threads.size;
  }

  /** Rejects with READ_WORKER_FAILED if the thread died of it. */
  run<Kind extends ReadKind>(
    kind: Kind,
    params: ReadParams[Kind],
    caller: string,
  ): Promise<ReadResults[Kind]> {
    this.#dropOverdue();
    return new Promise((resolve, reject) => {
      // A thread answers with the result of the kind that it was asked for.
      const resolveAny = resolve as Job["resolve"];
      if (this.#isClosed) {
        resolveAny(BUSY);
        return;
      }
      const dueMs = performance.now() + this.#options.waitMaxMs;
      const job = { caller, kind, params, dueMs, resolve: resolveAny, reject };
      this.#queue.add(caller, job)?.resolve(BUSY);
      this.#assign();
    });
  }

  /** What runs is cut off; what waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of this.#queue.remove(() => true)) resolve(BUSY);
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread)));
  }

  #dropOverdue(): void {
    const nowMs = performance.now();
    for (const { resolve } of this.#queue.remove(({ dueMs }) => dueMs < nowMs)) resolve(BUSY);
  }

  #assign(): void {
    while (this.#hasFreeThread()) {
      const taken = this.#queue.take();
      if (taken === undefined) return;
      this.#start(this.#freeThread(), taken.item);
    }
  }

  #hasFreeThread(): boolean {
    if (this.#threads.size < this.#options.workersMax) return true;
    for (const thread of this.#threads) if (thread.job === undefined) return true;
    return false;
  }

  #freeThread(): Thread {
    for (const thread of this.#threads) if (thread.job === undefined) return thread;
    return this.#open();
  }

  /** The thread has no job any more. */
  #takeJob(thread: Thread): Job | undefined {
    const { job } = thread;
    thread.job = undefined;
    if (job !== undefined) this.#queue.release(job.caller);
    return job;
  }

  #open(): Thread {
    const { statePath, rules, gasMax, resultBytesMax } = this.#options;
    const stop = new SharedArrayBuffer(4);
    const workerData: ReadWorkerOptions = { statePath, rules, gasMax, resultBytesMax, stop };
    const worker = new Worker(WORKER_URL, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    const thread: Thread = {
      worker,
      stop: new Int32Array(stop),
      mark: undefined,
      job: undefined,
      ticket: 0,
      isReady: false,
      timer: undefined,
    };
    this.#threads.add(thread);
    worker.on("message", (answer: ReadAnswer) => this.#onAnswer(thread, answer));
    worker.on("error", (error) => this.#onDied(thread, String(error)));
    worker.on("exit", () => this.#onDied(thread, "the thread ended"));
    // A node that wants to end does not wait for them.
    worker.unref();
    return thread;
  }

  #start(thread: Thread, job: Job): void {
    clearTimeout(thread.timer);
    thread.job = job;
    thread.ticket++;
    const { mark, ...update } = this.#dependencies.update(thread.mark);
    thread.mark = mark;
    const { kind, params } = job;
    const request: ReadRequest = {
      kind: "job",
      ticket: thread.ticket,
      job: kind,
      params,
      update,
    };
    thread.worker.postMessage(request, [update.unwritten.buffer]);
    // To load the program takes longer than most jobs, and is not the job's fault.
    const timeMs = thread.isReady ? this.#options.timeMaxMs : START_MS_MAX;
    thread.timer = setTimeout(() => this.#onTimeUp(thread), timeMs);
  }

  #onReady(thread: Thread): void {
    thread.isReady = true;
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => this.#onTimeUp(thread), this.#options.timeMaxMs);
  }

  #onTimeUp(thread: Thread): void {
    Atomics.store(thread.stop, 0, thread.ticket);
    thread.timer = setTimeout(() => {
      this.#takeJob(thread)?.resolve(STOPPED);
      this.#dependencies.onDied("it did not stop");
      this.#threads.delete(thread);
      void thread.worker.terminate();
      this.#assign();
    }, this.#options.stopGraceMs);
  }

  #onAnswer(thread: Thread, answer: ReadAnswer): void {
    const { job } = thread;
    if (job === undefined) return;
    if (answer.ticket === 0) this.#onReady(thread);
    if (answer.ticket !== thread.ticket) return;
    this.#rest(thread);
    if ("result" in answer) job.resolve(answer.result);
    else if ("error" in answer) job.reject(failure(answer.error));
    this.#dropOverdue();
    this.#assign();
  }

  #rest(thread: Thread): void {
    clearTimeout(thread.timer);
    this.#takeJob(thread);
    thread.timer = setTimeout(() => void this.#end(thread), this.#options.idleMaxMs);
    thread.timer.unref();
  }

  #onDied(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    this.#dependencies.onDied(reason);
    this.#takeJob(thread)?.reject(failure(reason));
    this.#assign();
  }

  /** Lets it close its handle on the store, unless it is busy. */
  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.timer);
    this.#threads.delete(thread);
    const cut = this.#takeJob(thread);
    if (cut !== undefined) {
      cut.resolve(STOPPED);
      Atomics.store(thread.stop, 0, thread.ticket);
    }
    const ended = new Promise<void>((resolve) => {
      thread.worker.once("exit", () => resolve());
    });
    const request: ReadRequest = { kind: "close" };
    thread.worker.postMessage(request);
    const { stopGraceMs } = this.#options;
    const timer = setTimeout(() => void thread.worker.terminate(), stopGraceMs);
    await ended;
    clearTimeout(timer);
  }
}

function failure(reason: string): CodedError {
  return new CodedError("READ_WORKER_FAILED", { reason });
}

const BUSY = err<CallFailure>({ kind: "busy" });
const STOPPED = err<CallFailure>({ kind: "stopped" });

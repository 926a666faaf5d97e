/**
 * The execution thread: owns the state, executes what it is given in order, and writes behind. A
 * full disk stops it until there is room; a damaged state is thrown away and made again from the
 * blocks.
 */
import { parentPort, workerData } from "node:worker_threads";
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import { err, ok } from "../../base/result.ts";
import { decodeTransaction } from "../../chain/transaction-decoder.ts";
import { BlockExecutor, type BlockExecutorOptions } from "../../ledger/block-executor.ts";
import { removeEnvironment } from "../../storage/lmdb-environment.ts";
import { StateStore } from "../../storage/state-store.ts";
import { decodeBlockBytes } from "../../wire/block-bytes.ts";
import type {
  ExecutionEvent,
  ExecutionReady,
  ExecutionRequest,
  ImportCommand,
  ImportOutcome,
  PermissionQuestion,
} from "./execution-messages.ts";
import { executionReport, type ExecutionReport } from "./execution-report.ts";
import { knownSenders } from "./known-senders.ts";
import { readResults, RecentChain } from "./recent-chain.ts";
import { removeLeftovers, replaceState, SnapshotImport } from "../state-sync/snapshot-import.ts";

export type WorkerOptions = Omit<BlockExecutorOptions, "keepsHistory"> & {
  readonly statePath: string;
  /** How long what was executed may wait to be written. */
  readonly flushDelayMs: number;
};

type ExecuteRequest = Extract<ExecutionRequest, { readonly kind: "execute" }>;

type OpenedState = { readonly store: StateStore; readonly executor: BlockExecutor };

const DISK_RETRY_MS = 1_000;

class ExecutionThread {
  readonly #options: WorkerOptions;
  readonly #post: (event: ExecutionEvent) => void;
  #store: StateStore;
  #executor: BlockExecutor;
  #import: SnapshotImport | undefined;
  #waiting: ExecuteRequest[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #isFull = false;

  constructor(options: WorkerOptions, opened: OpenedState, post: (event: ExecutionEvent) => void) {
    this.#options = options;
    this.#store = opened.store;
    this.#executor = opened.executor;
    this.#post = post;
  }

  async handle(request: ExecutionRequest): Promise<void> {
    switch (request.kind) {
      case "execute":
        this.#waiting.push(request);
        this.#run();
        return;
      case "accounts": {
        const accounts = request.addresses.map((address) => this.#executor.account(address));
        this.#post({ kind: "accounts", ticket: request.ticket, accounts });
        return;
      }
      case "permissions": {
        const answers = request.questions.map((question) => this.#isPermitted(question));
        this.#post({ kind: "permissions", ticket: request.ticket, answers });
        return;
      }
      case "import": {
        const { ticket, command } = request;
        this.#post({ kind: "import", ticket, outcome: await this.#importing(command) });
        return;
      }
      case "close":
        await this.#close();
    }
  }

  /** A fault ends the import, and so does a full disk. */
  async #importing(command: ImportCommand): Promise<ImportOutcome> {
    let outcome: ImportOutcome;
    try {
      outcome = await this.#carryOut(command);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "DISK_FULL") throw error;
      outcome = err(error.code);
    }
    if (!outcome.ok) await this.#abandonImport();
    return outcome;
  }

  async #carryOut(command: ImportCommand): Promise<ImportOutcome> {
    if (command.kind === "begin" || command.kind === "abandon") await this.#abandonImport();
    if (command.kind === "begin") {
      this.#import = await SnapshotImport.open(this.#options.statePath, command.offer);
    }
    if (command.kind === "add") {
      const added = this.#import?.add(command.chunk) ?? err("SNAPSHOT_GONE");
      return added.ok ? ok({ next: added.value.next, ready: undefined }) : added;
    }
    if (command.kind !== "finish") return ok({ next: undefined, ready: undefined });
    const finished = this.#import?.finish(this.#executor.genesis) ?? err("SNAPSHOT_GONE");
    if (!finished.ok) return finished;
    return ok({ next: undefined, ready: await this.#useImported() });
  }

  async #useImported(): Promise<ExecutionReady> {
    const { statePath } = this.#options;
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#waiting = [];
    await this.#import?.close();
    this.#import = undefined;
    await this.#store.close();
    replaceState(statePath);
    const opened = await openExecutor(this.#options);
    this.#store = opened.store;
    this.#executor = opened.executor;
    return readyOf(opened, false);
  }

  async #abandonImport(): Promise<void> {
    const abandoned = this.#import;
    this.#import = undefined;
    await abandoned?.abandon();
  }

  #run(): void {
    while (!this.#isFull) {
      const request = this.#waiting[0];
      if (request === undefined) break;
      const startedMs = performance.now();
      const executed = this.#whileRoom(() => this.#execute(request));
      if (executed === undefined) return;
      this.#waiting.shift();
      const durationMs = performance.now() - startedMs;
      this.#post({ kind: "executed", executed, durationMs });
      if (this.#executor.isFlushUrgent) this.#flush();
    }
    if (this.#executor.hasUnwritten) this.#scheduleFlush(this.#options.flushDelayMs);
  }

  #execute({ block, senders }: ExecuteRequest): ExecutionReport {
    const decoded = decodeBlockBytes(block);
    invariant(decoded.ok, "the store gives back what was put in");
    return executionReport(this.#executor.execute(decoded.value, knownSenders(senders)));
  }

  #isPermitted({ bytes, sender }: PermissionQuestion): boolean {
    const decoded = decodeTransaction(bytes);
    return !decoded.ok || this.#executor.isPermitted({ transaction: decoded.value, sender });
  }

  #scheduleFlush(delayMs: number): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      this.#flush();
      this.#run();
    }, delayMs);
  }

  #flush(): void {
    const isDone = this.#whileRoom(() => {
      this.#executor.flush();
      return true;
    });
    if (isDone === undefined || !this.#isFull) return;
    this.#isFull = false;
    this.#post({ kind: "diskFull", isFull: false });
  }

  /** Undefined when the disk is full: nothing was changed then, and it is tried again. */
  #whileRoom<Value>(act: () => Value): Value | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "DISK_FULL") throw error;
      if (!this.#isFull) this.#post({ kind: "diskFull", isFull: true });
      this.#isFull = true;
      this.#scheduleFlush(DISK_RETRY_MS);
      return undefined;
    }
  }

  async #close(): Promise<void> {
    clearTimeout(this.#flushTimer);
    this.#whileRoom(() => this.#executor.flush());
    clearTimeout(this.#flushTimer);
    await this.#abandonImport();
    await this.#store.close();
    this.#post({ kind: "closed" });
  }
}

function readyOf({ executor, store }: OpenedState, isRebuilt: boolean): ExecutionReady {
  const { genesis, height, head } = executor;
  const results = readResults(store, height);
  const blockNumber = head.header.number;
  return { kind: "ready", genesis, height, blockNumber, results, isRebuilt };
}

async function openState(
  options: WorkerOptions,
): Promise<OpenedState & { readonly isRebuilt: boolean }> {
  removeLeftovers(options.statePath);
  try {
    return { ...(await openExecutor(options)), isRebuilt: false };
  } catch (error) {
    const code = error instanceof CodedError ? error.code : undefined;
    if (code !== "STATE_STORE_DAMAGED" && code !== "STATE_CORRUPT") throw error;
    removeEnvironment(options.statePath);
    return { ...(await openExecutor(options)), isRebuilt: true };
  }
}

async function openExecutor(options: WorkerOptions): Promise<OpenedState> {
  const store = await StateStore.open(options.statePath);
  try {
    const index = new RecentChain(store);
    const executor = new BlockExecutor({ ...options, keepsHistory: false }, { store, index });
    return { store, executor };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function main(): Promise<void> {
  invariant(parentPort !== null, "this file is the entry of a thread");
  const port = parentPort;
  const post = (event: ExecutionEvent): void => port.postMessage(event);
  const fail = (error: unknown): void => {
    const code = error instanceof CodedError ? error.code : "EXECUTION_FAILED";
    post({ kind: "failed", code, message: error instanceof Error ? error.message : String(error) });
  };
  try {
    const options = workerData as WorkerOptions;
    const opened = await openState(options);
    const thread = new ExecutionThread(options, opened, post);
    let turn = Promise.resolve();
    port.on("message", (request: ExecutionRequest) => {
      turn = turn.then(() => thread.handle(request)).catch(fail);
    });
    post(readyOf(opened, opened.isRebuilt));
  } catch (error) {
    fail(error);
  }
}

await main();

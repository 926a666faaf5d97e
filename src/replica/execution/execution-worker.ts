/**
 * The execution thread: owns the state, executes what it is given in order, and writes behind. A
 * full disk stops it until there is room; a damaged state is thrown away and made again from the
 * blocks.
 */
import { parentPort, workerData } from "node:worker_threads";
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import { err, ok, type Result } from "../../base/result.ts";
import type { GenesisRecord } from "../../ledger/chain-records.ts";
import { removeEnvironment } from "../../storage/lmdb-environment.ts";
import { StateStore } from "../../storage/state-store.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";
import type { StateCursor } from "../../wire/state-codec.ts";
import {
  BlockExecutor,
  type ExecutionReport,
  type ExecutorOptions,
  type PermissionQuestion,
} from "./block-executor.ts";
import { removeLeftovers, replaceState, SnapshotImport } from "../state-sync/snapshot-import.ts";
import type { ProvedOffer } from "../state-sync/snapshot-proof.ts";

export type WorkerOptions = ExecutorOptions & {
  readonly statePath: string;
  /** How long what was executed may wait to be written. */
  readonly flushDelayMs: number;
};

export type ExecutionRequest =
  | { readonly kind: "execute"; readonly block: Uint8Array; readonly senders?: Uint8Array }
  | { readonly kind: "accounts"; readonly ticket: number; readonly addresses: readonly bigint[] }
  | {
      readonly kind: "permissions";
      readonly ticket: number;
      readonly questions: readonly PermissionQuestion[];
    }
  | { readonly kind: "import"; readonly ticket: number; readonly command: ImportCommand }
  | { readonly kind: "close" };

/** A state is taken from a peer, in this order. Only `finish` touches the state that is in use. */
export type ImportCommand =
  | { readonly kind: "begin"; readonly offer: ProvedOffer }
  | { readonly kind: "add"; readonly chunk: Uint8Array }
  | { readonly kind: "finish" }
  | { readonly kind: "abandon" };

/** What a command led to; `ready` after `finish`, when the new state is in use. */
export type ImportOutcome = Result<
  { readonly next: StateCursor | undefined; readonly ready: ExecutionReady | undefined },
  string
>;

export type ExecutionReady = {
  readonly kind: "ready";
  readonly genesis: GenesisRecord;
  readonly height: number;
  readonly blockNumber: bigint;
  /** Of the last heights. */
  readonly results: ReadonlyMap<number, Uint8Array>;
  /** The state was damaged and begins again at genesis. */
  readonly isRebuilt: boolean;
};

export type ExecutionEvent =
  | ExecutionReady
  | {
      readonly kind: "executed";
      readonly executed: ExecutionReport;
      readonly durationMs: number;
    }
  | {
      readonly kind: "accounts";
      readonly ticket: number;
      readonly accounts: readonly AccountState[];
    }
  | {
      readonly kind: "permissions";
      readonly ticket: number;
      readonly answers: readonly boolean[];
    }
  | { readonly kind: "import"; readonly ticket: number; readonly outcome: ImportOutcome }
  | { readonly kind: "diskFull"; readonly isFull: boolean }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | { readonly kind: "closed" };

const DISK_RETRY_MS = 1_000;

class ExecutionThread {
  readonly #options: WorkerOptions;
  readonly #post: (event: ExecutionEvent) => void;
  #store: StateStore;
  #executor: BlockExecutor;
  #import: SnapshotImport | undefined;
  #waiting: Extract<ExecutionRequest, { readonly kind: "execute" }>[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #isFull = false;

  constructor(
    options: WorkerOptions,
    opened: { readonly store: StateStore; readonly executor: BlockExecutor },
    post: (event: ExecutionEvent) => void,
  ) {
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
        const answers = request.questions.map((question) => this.#executor.isPermitted(question));
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
    const { store, executor } = await openExecutor(this.#options);
    this.#store = store;
    this.#executor = executor;
    return readyOf(executor, false);
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
      const executed = this.#whileRoom(() =>
        this.#executor.execute(request.block, request.senders),
      );
      if (executed === undefined) return;
      this.#waiting.shift();
      const durationMs = performance.now() - startedMs;
      this.#post({ kind: "executed", executed, durationMs });
      if (this.#executor.isFlushUrgent) this.#flush();
    }
    if (this.#executor.hasUnwritten) this.#scheduleFlush(this.#options.flushDelayMs);
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

function readyOf(executor: BlockExecutor, isRebuilt: boolean): ExecutionReady {
  const { genesis, height, blockNumber } = executor;
  const results = executor.storedResults();
  return { kind: "ready", genesis, height, blockNumber, results, isRebuilt };
}

async function openState(options: WorkerOptions): Promise<{
  readonly store: StateStore;
  readonly executor: BlockExecutor;
  readonly isRebuilt: boolean;
}> {
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

async function openExecutor(
  options: WorkerOptions,
): Promise<{ readonly store: StateStore; readonly executor: BlockExecutor }> {
  const store = await StateStore.open(options.statePath);
  try {
    return { store, executor: new BlockExecutor(options, store) };
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
    const { store, executor, isRebuilt } = await openState(options);
    const thread = new ExecutionThread(options, { store, executor }, post);
    let turn = Promise.resolve();
    port.on("message", (request: ExecutionRequest) => {
      turn = turn.then(() => thread.handle(request)).catch(fail);
    });
    post(readyOf(executor, isRebuilt));
  } catch (error) {
    fail(error);
  }
}

await main();

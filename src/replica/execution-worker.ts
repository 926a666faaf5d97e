/**
 * The execution thread: owns the state, executes what it is given in order, and writes behind. A
 * full disk stops it until there is room; a damaged state is thrown away and made again from the
 * blocks.
 */
import { parentPort, workerData } from "node:worker_threads";
import { CodedError } from "../base/coded-error.ts";
import { invariant } from "../base/invariant.ts";
import type { GenesisRecord } from "../ledger/chain-records.ts";
import { removeEnvironment } from "../storage/lmdb-environment.ts";
import { StateStore } from "../storage/state-store.ts";
import type { AccountState } from "../txpool/tx-pool.ts";
import { BlockExecutor, type ExecutedHeight, type ExecutorOptions } from "./block-executor.ts";

export type WorkerOptions = ExecutorOptions & {
  readonly statePath: string;
  /** How long what was executed may wait to be written. */
  readonly flushDelayMs: number;
};

export type ExecutionRequest =
  | { readonly kind: "execute"; readonly block: Uint8Array; readonly senders?: Uint8Array }
  | { readonly kind: "accounts"; readonly ticket: number; readonly addresses: readonly bigint[] }
  | { readonly kind: "close" };

export type ExecutionEvent =
  | {
      readonly kind: "ready";
      readonly genesis: GenesisRecord;
      readonly height: number;
      readonly blockNumber: bigint;
      /** Of the last heights. */
      readonly results: ReadonlyMap<number, Uint8Array>;
      /** The state was damaged and begins again at genesis. */
      readonly isRebuilt: boolean;
    }
  | { readonly kind: "executed"; readonly executed: ExecutedHeight }
  | {
      readonly kind: "accounts";
      readonly ticket: number;
      readonly accounts: readonly AccountState[];
    }
  | { readonly kind: "diskFull"; readonly isFull: boolean }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | { readonly kind: "closed" };

const DISK_RETRY_MS = 1_000;

class ExecutionThread {
  readonly #options: WorkerOptions;
  readonly #post: (event: ExecutionEvent) => void;
  readonly #store: StateStore;
  readonly #executor: BlockExecutor;
  readonly #waiting: Extract<ExecutionRequest, { readonly kind: "execute" }>[] = [];
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
      case "close":
        await this.#close();
    }
  }

  #run(): void {
    while (!this.#isFull) {
      const request = this.#waiting[0];
      if (request === undefined) break;
      const executed = this.#whileRoom(() =>
        this.#executor.execute(request.block, request.senders),
      );
      if (executed === undefined) return;
      this.#waiting.shift();
      this.#post({ kind: "executed", executed });
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
    await this.#store.close();
    this.#post({ kind: "closed" });
  }
}

async function openState(options: WorkerOptions): Promise<{
  readonly store: StateStore;
  readonly executor: BlockExecutor;
  readonly isRebuilt: boolean;
}> {
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
    const { genesis, height, blockNumber } = executor;
    const results = executor.storedResults();
    port.on("message", (request: ExecutionRequest) => {
      thread.handle(request).catch(fail);
    });
    post({ kind: "ready", genesis, height, blockNumber, results, isRebuilt });
  } catch (error) {
    fail(error);
  }
}

await main();

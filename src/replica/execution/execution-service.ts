/** The execution thread as the main thread sees it. */
import { Worker } from "node:worker_threads";
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";
import type { ExecutionReport } from "./execution-report.ts";
import type {
  ExecutionEvent,
  ExecutionReady,
  ExecutionRequest,
  ImportCommand,
  ImportOutcome,
  PermissionQuestion,
} from "./execution-messages.ts";
import type { WorkerOptions } from "./execution-worker.ts";

export type ExecutionEvents = {
  onExecuted(executed: ExecutionReport, durationMs: number): void;
  onDiskFull(isFull: boolean): void;
  /** Once; nothing comes after it. */
  onFailed(error: CodedError): void;
};

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./execution-worker.ts" : "./execution-worker.js",
  import.meta.url,
);

type Waiter<Value> = {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: CodedError) => void;
};

export class ExecutionService {
  readonly #worker: Worker;
  readonly #events: ExecutionEvents;
  readonly #waiters = new Map<number, Waiter<readonly AccountState[]>>();
  readonly #askers = new Map<number, Waiter<readonly boolean[]>>();
  readonly #importers = new Map<number, Waiter<ImportOutcome>>();
  #lastTicket = 0;
  #failure: CodedError | undefined;
  #onReady: ((ready: ExecutionReady) => void) | undefined;
  #onClosed: (() => void) | undefined;
  #onStartFailed: ((error: CodedError) => void) | undefined;

  /** Resolves when the state is open. Rejects with what is wrong with it. */
  static async open(
    options: WorkerOptions,
    events: ExecutionEvents,
  ): Promise<{ readonly service: ExecutionService; readonly ready: ExecutionReady }> {
    const service = new ExecutionService(options, events);
    try {
      const ready = await new Promise<ExecutionReady>((resolve, reject) => {
        service.#onReady = resolve;
        service.#onStartFailed = reject;
      });
      service.#onStartFailed = undefined;
      return { service, ready };
    } catch (error) {
      await service.terminate();
      throw error;
    }
  }

  private constructor(options: WorkerOptions, events: ExecutionEvents) {
    this.#events = events;
    this.#worker = new Worker(WORKER_URL, { workerData: options });
    this.#worker.on("message", (event: ExecutionEvent) => this.#onEvent(event));
    this.#worker.on("error", (error) => {
      this.#fail(new CodedError("EXECUTION_FAILED", { reason: String(error) }, error));
    });
    this.#worker.on("exit", () => {
      this.#fail(new CodedError("EXECUTION_FAILED", { reason: "the thread ended" }));
    });
  }

  /** Blocks of consecutive heights, as stored; each leads to one `onExecuted`. */
  execute(block: Uint8Array, senders: Uint8Array | undefined): void {
    // A view would be sent with all of the memory that it is a view of.
    const copy = Uint8Array.from(block);
    const known = senders === undefined ? {} : { senders };
    this.#post({ kind: "execute", block: copy, ...known }, [copy.buffer]);
  }

  /** As of the last height that was reported before the answer. */
  accounts(addresses: readonly bigint[]): Promise<readonly AccountState[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const ticket = ++this.#lastTicket;
    return new Promise((resolve, reject) => {
      this.#waiters.set(ticket, { resolve, reject });
      this.#post({ kind: "accounts", ticket, addresses });
    });
  }

  /** Whether each may write, as of that height, too. */
  permissions(questions: readonly PermissionQuestion[]): Promise<readonly boolean[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const ticket = ++this.#lastTicket;
    return new Promise((resolve, reject) => {
      this.#askers.set(ticket, { resolve, reject });
      this.#post({ kind: "permissions", ticket, questions });
    });
  }

  /** Takes a state from a peer, a step at a time; nothing is given to `execute` meanwhile. */
  importState(command: ImportCommand): Promise<ImportOutcome> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const ticket = ++this.#lastTicket;
    return new Promise((resolve, reject) => {
      this.#importers.set(ticket, { resolve, reject });
      this.#post({ kind: "import", ticket, command });
    });
  }

  /** Writes what was executed and ends the thread. */
  async close(): Promise<void> {
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#onClosed = resolve;
        this.#post({ kind: "close" });
      });
    }
    await this.terminate();
  }

  async terminate(): Promise<void> {
    this.#failure ??= new CodedError("EXECUTION_CLOSED");
    this.#rejectWaiters(this.#failure);
    await this.#worker.terminate();
  }

  #post(request: ExecutionRequest, transfer: ArrayBuffer[] = []): void {
    invariant(this.#failure === undefined, "a thread that ended is asked nothing");
    this.#worker.postMessage(request, transfer);
  }

  #onEvent(event: ExecutionEvent): void {
    switch (event.kind) {
      case "ready":
        this.#onReady?.(event);
        return;
      case "executed":
        if (this.#failure !== undefined) return;
        this.#events.onExecuted(event.executed, event.durationMs);
        return;
      case "accounts":
        this.#waiters.get(event.ticket)?.resolve(event.accounts);
        this.#waiters.delete(event.ticket);
        return;
      case "permissions":
        this.#askers.get(event.ticket)?.resolve(event.answers);
        this.#askers.delete(event.ticket);
        return;
      case "import":
        this.#importers.get(event.ticket)?.resolve(event.outcome);
        this.#importers.delete(event.ticket);
        return;
      case "diskFull":
        this.#events.onDiskFull(event.isFull);
        return;
      case "failed":
        this.#fail(new CodedError(event.code, { reason: event.message }));
        return;
      case "closed":
        this.#onClosed?.();
    }
  }

  #fail(error: CodedError): void {
    this.#onClosed?.();
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#rejectWaiters(error);
    if (this.#onStartFailed === undefined) this.#events.onFailed(error);
    else this.#onStartFailed(error);
  }

  #rejectWaiters(error: CodedError): void {
    for (const { reject } of this.#waiters.values()) reject(error);
    for (const { reject } of this.#askers.values()) reject(error);
    for (const { reject } of this.#importers.values()) reject(error);
    this.#waiters.clear();
    this.#askers.clear();
    this.#importers.clear();
  }
}

/** The search thread as the servers see it. */
import { Worker } from "node:worker_threads";
import { errorBody } from "./search-error.ts";
import type { SearchAnswer, SearchTask, SearchWorkerOptions } from "./search-worker.ts";

export type SearchResult = Pick<SearchAnswer, "status" | "text">;

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./search-worker.ts" : "./search-worker.js",
  import.meta.url,
);
/** Searches that wait for the thread; further ones are rejected with 429. */
const WAITING_MAX = 64;

export class SearchService {
  readonly #options: SearchWorkerOptions;
  readonly #waiters = new Map<number, (result: SearchResult) => void>();
  #worker: Worker | undefined;
  #lastTicket = 0;

  constructor(options: SearchWorkerOptions) {
    this.#options = options;
  }

  run(kind: SearchTask["kind"], body: unknown): Promise<SearchResult> {
    if (this.#waiters.size >= WAITING_MAX) {
      return Promise.resolve(failure(429, "too_many_requests", "too many searches at once"));
    }
    this.#worker ??= this.#start();
    const task: SearchTask = { ticket: ++this.#lastTicket, kind, body };
    return new Promise((resolve) => {
      this.#waiters.set(task.ticket, resolve);
      this.#worker?.postMessage(task);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#failAll();
  }

  /** A thread that ended is started again by the next search. */
  #start(): Worker {
    const worker = new Worker(WORKER_URL, { workerData: this.#options });
    worker.on("message", ({ ticket, ...result }: SearchAnswer) => {
      this.#waiters.get(ticket)?.(result);
      this.#waiters.delete(ticket);
    });
    const onEnd = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#failAll();
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    return worker;
  }

  #failAll(): void {
    for (const resolve of this.#waiters.values()) {
      resolve(failure(503, "unavailable", "the search thread ended"));
    }
    this.#waiters.clear();
  }
}

function failure(status: number, type: string, reason: string): SearchResult {
  return { status, text: JSON.stringify(errorBody(type, reason, status)) };
}

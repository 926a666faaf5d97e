/**
 * Writes the block store on a thread of its own, so that neither consensus nor reads wait for the
 * disk. The thread begins with the first command.
 */
import { Worker } from "node:worker_threads";
import { invariant } from "../base/invariant.ts";
import type { BlockWrite } from "./block-tables.ts";
import type { WriterCommand, WriterOptions, WriterOutcome } from "./block-writer-worker.ts";

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./block-writer-worker.ts" : "./block-writer-worker.js",
  import.meta.url,
);

type Waiter = { readonly resolve: () => void; readonly reject: (error: Error) => void };

export class BlockWriter {
  readonly #path: string;
  #worker: Worker | undefined;
  #waiters: Waiter[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** In one transaction, durable when it resolves. The memory of the blocks goes to the thread. */
  write(blocks: readonly BlockWrite[]): Promise<void> {
    const transferred = blocks.flatMap(({ fields, hashes }) =>
      [...Object.values(fields), ...(hashes === undefined ? [] : [hashes])].map(bufferOf),
    );
    return this.#ask({ kind: "write", blocks }, transferred);
  }

  remove(from: number, end: number): Promise<void> {
    return this.#ask({ kind: "remove", from, end });
  }

  clear(): Promise<void> {
    return this.#ask({ kind: "clear" });
  }

  /** After all that was asked for before. */
  async close(): Promise<void> {
    if (this.#worker === undefined) return;
    await this.#ask({ kind: "close" });
    await this.#worker.terminate();
  }

  #ask(command: WriterCommand, transferred: ArrayBuffer[] = []): Promise<void> {
    const worker = this.#worker ?? this.#start();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      // The thread keeps the process alive only while something is being written.
      worker.ref();
      worker.postMessage(command, transferred);
    });
  }

  #start(): Worker {
    const options: WriterOptions = { path: this.#path };
    const worker = new Worker(WORKER_URL, { workerData: options });
    worker.on("message", (outcome: WriterOutcome) => this.#onOutcome(worker, outcome));
    worker.on("error", (error) => {
      const failure = error instanceof Error ? error : new Error(String(error));
      for (const waiter of this.#waiters.splice(0)) waiter.reject(failure);
    });
    this.#worker = worker;
    return worker;
  }

  #onOutcome(worker: Worker, outcome: WriterOutcome): void {
    const waiter = this.#waiters.shift();
    invariant(waiter !== undefined, "the thread answers once for each command");
    if (this.#waiters.length === 0) worker.unref();
    if (outcome.ok) waiter.resolve();
    else waiter.reject(errorOf(outcome));
  }
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  invariant(bytes.buffer instanceof ArrayBuffer, "blocks are not in shared memory");
  invariant(bytes.byteLength === bytes.buffer.byteLength, "the block is alone in its memory");
  return bytes.buffer;
}

/**
 * As the library throws it, so that a full disk and a broken one are distinguished in one place.
 */
function errorOf({ message, errorNumber }: Extract<WriterOutcome, { readonly ok: false }>): Error {
  return Object.assign(new Error(message), { code: errorNumber });
}

/**
 * Finds out who signed transactions on other threads. It saves no work, it only moves it: on a
 * machine whose cores are busy anyway there is no pool (docs/adr/0012-sender-pool.md).
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { readBigEndian } from "../base/big-endian.ts";
import { ADDRESS_SIZE } from "../chain/address.ts";
import { packBatch } from "./signature-recovery-batch.ts";
import type { RecoveryAnswer, RecoveryRequest } from "./signature-recovery-worker.ts";

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts")
    ? "./signature-recovery-worker.ts"
    : "./signature-recovery-worker.js",
  import.meta.url,
);
/** Fewer are done sooner in place: an empty round trip costs about a third of a recovery. */
const BATCH_MIN = 16;
/** About 10 ms: a larger list is shared among the threads. */
const BATCH_MAX = 128;
const CORES_PER_THREAD = 4;
const THREADS_MAX = 4;

type Thread = {
  readonly worker: Worker;
  readonly waiting: Map<number, (senders: Uint8Array | undefined) => void>;
};

/** Of the five processes of a local network each has two busy threads without any pool. */
export function defaultRecoveryThreads(): number {
  return Math.min(THREADS_MAX, Math.floor((availableParallelism() - 1) / CORES_PER_THREAD));
}

export class SignatureRecoveryPool {
  readonly #threads: Thread[];
  #lastTicket = 0;
  #isClosed = false;

  constructor(threadCount: number) {
    this.#threads = Array.from({ length: threadCount }, () => this.#startThread());
  }

  /** Whether it is worth it to ask for so many: otherwise recover them where you are. */
  isWorth(count: number): boolean {
    return count >= BATCH_MIN && this.#threads.length > 0;
  }

  /**
   * The senders in the order of the transactions; undefined for one that has none, and for all of a
   * thread that ended: the caller recovers those itself.
   */
  async recover(transactions: readonly Uint8Array[]): Promise<(bigint | undefined)[]> {
    const parts: Promise<(bigint | undefined)[]>[] = [];
    const size = this.#batchSize(transactions.length);
    for (let start = 0; start < transactions.length; start += size) {
      parts.push(this.#recoverBatch(transactions.slice(start, start + size)));
    }
    return (await Promise.all(parts)).flat();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const threads = this.#threads.splice(0);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  /** All threads get their share, and none so much that others wait long behind it. */
  #batchSize(count: number): number {
    const share = Math.ceil(count / Math.max(1, this.#threads.length));
    return Math.min(BATCH_MAX, Math.max(BATCH_MIN, share));
  }

  async #recoverBatch(batch: readonly Uint8Array[]): Promise<(bigint | undefined)[]> {
    const thread = this.#idlest();
    if (thread === undefined) return batch.map(() => undefined);
    const ticket = ++this.#lastTicket;
    const senders = await new Promise<Uint8Array | undefined>((resolve) => {
      thread.waiting.set(ticket, resolve);
      const packed = packBatch(batch);
      const request: RecoveryRequest = { ticket, packed };
      thread.worker.postMessage(request, [packed.buffer]);
    });
    return batch.map((_, index) => {
      if (senders === undefined) return undefined;
      const sender = readBigEndian(senders, index * ADDRESS_SIZE, ADDRESS_SIZE);
      return sender === 0n ? undefined : sender;
    });
  }

  #idlest(): Thread | undefined {
    let idlest = this.#threads[0];
    for (const thread of this.#threads) {
      if (idlest !== undefined && thread.waiting.size < idlest.waiting.size) idlest = thread;
    }
    return idlest;
  }

  #startThread(): Thread {
    const worker = new Worker(WORKER_URL);
    const thread: Thread = { worker, waiting: new Map() };
    worker.unref();
    worker.on("message", ({ ticket, senders }: RecoveryAnswer) => {
      thread.waiting.get(ticket)?.(senders);
      thread.waiting.delete(ticket);
    });
    // Its callers recover what it was asked; without threads `isWorth` is false.
    const onEnd = (): void => {
      const at = this.#threads.indexOf(thread);
      if (at >= 0 && !this.#isClosed) this.#threads.splice(at, 1);
      for (const resolve of thread.waiting.values()) resolve(undefined);
      thread.waiting.clear();
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    return thread;
  }
}

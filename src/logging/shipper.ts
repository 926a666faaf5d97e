/**
 * Sends log lines to the log pipeline (SPEC L1, L4, L5). `write` takes a line and returns: it costs
 * a node the same whether the pipeline is there, slow or gone. Lines are gathered for a moment and
 * handed to a thread, which keeps them on disk until every endpoint has taken them.
 */
import { Worker } from "node:worker_threads";
import { endpointUrl, type ShipperEndpoint } from "./shipper-endpoint.ts";
import type { SenderTiming } from "./shipper-sender.ts";
import type {
  FromShipper,
  ShipperStats,
  ShipperWorkerOptions,
  ToShipper,
} from "./shipper-worker.ts";

export type ShipperOptions = {
  readonly endpoints: readonly ShipperEndpoint[];
  /** Where lines wait; undefined keeps them in memory. */
  readonly spoolDirectory: string | undefined;
  readonly spoolSizeMax?: number;
  readonly segmentSize?: number;
  readonly memoryMax?: number;
  readonly timing?: Partial<SenderTiming>;
};

export type ShipperEvents = {
  /** An endpoint stopped or began to take lines. */
  onEndpoint?(name: string, isUp: boolean, problem: string | undefined): void;
};

export type ShipperCounts = ShipperStats & {
  /** Lines that never reached the thread because it was behind. */
  readonly overflowLines: number;
};

const WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./shipper-worker.ts" : "./shipper-worker.js",
  import.meta.url,
);

const SPOOL_SIZE_MAX = 64 * 1024 * 1024;
const SEGMENT_SIZE = 2 * 1024 * 1024;
const MEMORY_MAX = 4 * 1024 * 1024;
const TIMING: SenderTiming = { answerTimeoutMs: 10_000, retryMinMs: 250, retryMaxMs: 30_000 };
const GATHER_MS = 100;
/** Handed over at once when so much has gathered. */
const GATHERED_LENGTH_MAX = 64 * 1024;
const RESTART_MS = 1_000;
const LINE_END = "\n";

export class Shipper {
  readonly #options: ShipperWorkerOptions;
  readonly #events: ShipperEvents;
  readonly #memoryMax: number;
  readonly #isUp = new Map<string, boolean>();
  #worker: Worker | undefined;
  #gathered: string[] = [];
  #gatheredLength = 0;
  /** Handed to the thread and not kept by it yet. */
  #handedLength = 0;
  #timer: NodeJS.Timeout | undefined;
  #overflowLines = 0;
  #stats: ShipperStats = { endpoints: [], spoolSize: 0, isDegraded: false };
  #onClosed: (() => void) | undefined;
  #isClosed = false;

  /** Throws LOG_ENDPOINT_INVALID. */
  constructor(options: ShipperOptions, events: ShipperEvents = {}) {
    for (const endpoint of options.endpoints) endpointUrl(endpoint);
    this.#memoryMax = options.memoryMax ?? MEMORY_MAX;
    this.#options = {
      endpoints: options.endpoints,
      spool: {
        directory: options.spoolDirectory,
        sizeMax: options.spoolSizeMax ?? SPOOL_SIZE_MAX,
        memoryMax: this.#memoryMax,
        segmentSize: options.segmentSize ?? SEGMENT_SIZE,
      },
      timing: { ...TIMING, ...options.timing },
    };
    this.#events = events;
    this.#worker = this.#start();
  }

  get counts(): ShipperCounts {
    return { ...this.#stats, overflowLines: this.#overflowLines };
  }

  /** One entry as JSON, with or without the end of its line. */
  write(line: string): void {
    if (this.#isClosed) return;
    const text = line.endsWith(LINE_END) ? line : line + LINE_END;
    this.#gathered.push(text);
    this.#gatheredLength += text.length;
    if (this.#gatheredLength > this.#memoryMax) this.#dropOldest();
    if (this.#gatheredLength >= GATHERED_LENGTH_MAX) this.#hand();
    else this.#timer ??= setTimeout(() => this.#hand(), GATHER_MS).unref();
  }

  /** Sends what it can within the time. What is left is on disk for the next start. */
  async close(withinMs = 1_000): Promise<void> {
    if (this.#isClosed) return;
    this.#hand({ isLast: true });
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#onClosed = () => resolve(undefined);
    worker.postMessage({ kind: "close", withinMs } satisfies ToShipper);
    const timer = setTimeout(() => resolve(undefined), withinMs + RESTART_MS);
    await promise;
    clearTimeout(timer);
    this.#worker = undefined;
    await worker.terminate();
  }

  #hand({ isLast = false } = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#gathered.length === 0 || this.#worker === undefined) return;
    // The thread is behind: what comes meanwhile waits here, within the limit.
    if (this.#handedLength > this.#memoryMax && !isLast) {
      this.#timer = setTimeout(() => this.#hand(), GATHER_MS).unref();
      return;
    }
    const text = this.#gathered.join("");
    this.#gathered = [];
    this.#gatheredLength = 0;
    this.#handedLength += text.length;
    this.#worker.postMessage({ kind: "lines", text } satisfies ToShipper);
  }

  #dropOldest(): void {
    const half = Math.ceil(this.#gathered.length / 2);
    const dropped = this.#gathered.splice(0, half);
    this.#overflowLines += dropped.length;
    this.#gatheredLength -= dropped.reduce((sum, { length }) => sum + length, 0);
  }

  #start(): Worker {
    const worker = new Worker(WORKER_URL, { workerData: this.#options });
    worker.unref();
    worker.on("message", (message: FromShipper) => this.#onMessage(message));
    const onEnd = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#handedLength = 0;
      this.#onClosed?.();
      if (this.#isClosed) return;
      // What it had kept is on disk; a new one goes on with it.
      setTimeout(() => {
        if (this.#isClosed) return;
        this.#worker = this.#start();
        this.#hand();
      }, RESTART_MS).unref();
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    return worker;
  }

  #onMessage(message: FromShipper): void {
    if (message.kind === "kept") {
      this.#handedLength -= message.length;
      return;
    }
    this.#stats = message.stats;
    for (const { name, isUp, problem } of message.stats.endpoints) {
      const wasUp = this.#isUp.get(name) ?? true;
      this.#isUp.set(name, isUp);
      if (wasUp !== isUp) this.#events.onEndpoint?.(name, isUp, problem);
    }
    if (message.kind === "closed") this.#onClosed?.();
  }
}

/**
 * Notices when the main thread was held up: a timer fires late by more than callers should wait.
 * The cause is work that belongs into a thread, or garbage collection.
 */
export type EventLoopWatchDependencies = {
  /** The thread answered nothing for so long, or for at most one period more. */
  readonly onStall: (ms: number) => void;
  readonly now?: () => number;
};

export const STALL_MS_MIN = 50;
const PERIOD_MS = 20;

export class EventLoopWatch {
  readonly #onStall: (ms: number) => void;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #lastMs: number;

  constructor({ onStall, now = () => performance.now() }: EventLoopWatchDependencies) {
    this.#onStall = onStall;
    this.#now = now;
    this.#lastMs = now();
    this.#timer = setInterval(() => this.#check(), PERIOD_MS);
    // A node that has nothing else to do may end.
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const nowMs = this.#now();
    const stalledMs = nowMs - this.#lastMs - PERIOD_MS;
    this.#lastMs = nowMs;
    if (stalledMs > STALL_MS_MIN) this.#onStall(stalledMs);
  }
}

/**
 * How much of one turn of the event loop calls may take together. Each is short, but hundreds can
 * become due in the same turn, and everything else would wait for the last of them.
 */
const TURN_MS = 10;

export class EventLoopShare {
  readonly #now: () => number;
  #spentMs = 0;
  #next: Promise<void> | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether what is left to do must wait for the next turn. */
  get isSpent(): boolean {
    return this.#spentMs >= TURN_MS;
  }

  run<Value>(work: () => Value): Value {
    const startedMs = this.#now();
    try {
      return work();
    } finally {
      this.#spentMs += this.#now() - startedMs;
      void this.next();
    }
  }

  /** When others had their turn: then there may be a share again, or those before took it. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#spentMs = 0;
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}

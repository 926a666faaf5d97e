/** Requests that are being answered at the same time, counted while they work. */
export class RequestSlots {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  /** Undefined if all are taken. */
  take(): RequestSlot | undefined {
    if (this.#used >= this.#most) return undefined;
    return new RequestSlot((change) => {
      this.#used += change;
    });
  }
}

export class RequestSlot {
  readonly #change: (by: number) => void;
  #waits = 0;

  constructor(change: (by: number) => void) {
    this.#change = change;
    change(1);
  }

  /** A part of the request waits. Several parts of a batch may. */
  pause(): void {
    if (++this.#waits === 1) this.#change(-1);
  }

  /** The wait is over: the rest is short, and is not refused though all slots may be taken. */
  resume(): void {
    if (--this.#waits === 0) this.#change(1);
  }

  /** Once, when no part waits any more. */
  release(): void {
    this.#change(-1);
  }
}

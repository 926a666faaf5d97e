/** Long work in pieces, so that one caller cannot keep all others waiting. */
import { setImmediate } from "node:timers/promises";

const PIECE_MS = 10;

/** Work that takes turns with all other work by the time that it took. */
export class EventLoopTurn {
  readonly #now: () => number;
  #startedMs: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedMs = now();
  }

  /** Awaited before a synchronous piece of work: yields to other work when due. */
  async next(): Promise<void> {
    if (this.#now() - this.#startedMs >= PIECE_MS) await this.#pass();
  }

  /**
   * Until the work has ended, or waits for something outside, such as a disk or a thread. What is
   * only a chain of promises ends here, so that the next piece begins after it and not beside it.
   */
  async whileBusy(work: Promise<unknown>): Promise<void> {
    const state = { isBusy: true };
    const end = (): void => {
      state.isBusy = false;
    };
    const ended = work.then(end, end);
    for (let step = 0; step < MICROTASKS_MAX && state.isBusy; step++) await Promise.resolve();
    if (state.isBusy) await Promise.race([ended, this.#pass()]);
  }

  async #pass(): Promise<void> {
    await setImmediate();
    this.#startedMs = this.#now();
  }
}

/** A function to await between pieces: it yields to other work when enough time has passed. */
export function takeTurns(): () => Promise<void> {
  const turn = new EventLoopTurn();
  return () => turn.next();
}

/**
 * More microtasks than any method takes that waits for nothing; one setImmediate costs more than
 * all of them.
 */
const MICROTASKS_MAX = 32;

/**
 * A rate limit that says how long to wait. One withdrawal may exceed what is there, so that large
 * frames and batches pass and are paid for afterwards.
 */
export class TokenBucket {
  readonly #perMs: number;
  readonly #max: number;
  #tokens: number;
  #filledMs: number;

  /** Holds at most the tokens of one second. */
  constructor(perSecond: number, nowMs: number) {
    this.#perMs = perSecond / 1_000;
    this.#max = perSecond;
    this.#tokens = perSecond;
    this.#filledMs = nowMs;
  }

  /** Milliseconds until the debt is paid; 0 if there is none. */
  take(count: number, nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens -= count;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Milliseconds until a whole token is there; 0 if one is. Takes nothing. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) / this.#perMs;
  }

  #fill(nowMs: number): void {
    const earned = Math.max(0, nowMs - this.#filledMs) * this.#perMs;
    this.#filledMs = nowMs;
    this.#tokens = Math.min(this.#max, this.#tokens + earned);
  }
}

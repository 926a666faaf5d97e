/**
 * How long to wait before the next attempt: doubling, with jitter over the upper half, so that
 * nodes that lost the same peer do not come back in step.
 */
export class BackOff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #attempts = 0;

  /** `random` is uniform over 0 .. 1. */
  constructor(minMs: number, maxMs: number, random: () => number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  nextMs(): number {
    const fullMs = Math.min(this.#maxMs, this.#minMs * 2 ** this.#attempts);
    if (fullMs < this.#maxMs) this.#attempts++;
    return fullMs * (0.5 + 0.5 * this.#random());
  }

  reset(): void {
    this.#attempts = 0;
  }
}

/** Requests that wait until a transaction is final or refused. */
import type { Hash } from "../../consensus/block.ts";
import { bytesToHash } from "../../wire/hash-text.ts";

export class FinalityWaiters {
  readonly #waiting = new Map<Hash, Set<() => void>>();

  /** Resolves when the transaction is settled, when the time is over, or when it is aborted. */
  wait(hash: Uint8Array, timeoutMs: number, aborted?: AbortSignal): Promise<void> {
    if (aborted?.aborted === true) return Promise.resolve();
    const key = bytesToHash(hash);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiters);
      const end = (): void => {
        clearTimeout(timer);
        aborted?.removeEventListener("abort", end);
        waiters.delete(end);
        if (waiters.size === 0) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      timer.unref();
      aborted?.addEventListener("abort", end);
      waiters.add(end);
    });
  }

  settle(hash: Uint8Array): void {
    if (this.#waiting.size === 0) return;
    for (const end of this.#waiting.get(bytesToHash(hash)) ?? []) end();
  }

  close(): void {
    for (const waiters of this.#waiting.values()) for (const end of waiters) end();
  }
}

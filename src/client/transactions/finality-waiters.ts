/** Those who wait until a transaction is final or refused. */
import { bytesToHex, type Hex } from "../../base/hex.ts";

export class Settlements {
  readonly #waiting = new Map<Hex, Set<() => void>>();

  /** Resolves when the transaction is settled, or when the time is over. */
  wait(hash: Uint8Array, timeoutMs: number): Promise<void> {
    const key = bytesToHex(hash);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiters);
      const end = (): void => {
        clearTimeout(timer);
        waiters.delete(end);
        if (waiters.size === 0) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      timer.unref();
      waiters.add(end);
    });
  }

  settle(hash: Uint8Array): void {
    if (this.#waiting.size === 0) return;
    for (const end of this.#waiting.get(bytesToHex(hash)) ?? []) end();
  }

  close(): void {
    for (const waiters of this.#waiting.values()) for (const end of waiters) end();
  }
}

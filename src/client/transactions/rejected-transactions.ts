/** Why accepted transactions were given up, for a bounded time and number (SPEC E11). */
import type { Hash } from "../../consensus/block.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import type { ClosedTransaction } from "./transaction-journal.ts";

const KEPT_MAX = 16_384;

export class RejectedTransactions {
  readonly #keptMs: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #closed = new Map<Hash, ClosedTransaction>();

  constructor(options: { readonly keptMs: number }, dependencies: { readonly now: () => number }) {
    this.#keptMs = options.keptMs;
    this.#now = dependencies.now;
  }

  add(closed: ClosedTransaction): void {
    const key = bytesToHash(closed.hash);
    this.#closed.delete(key);
    this.#closed.set(key, closed);
    this.#prune();
  }

  get(hash: Uint8Array): ClosedTransaction | undefined {
    this.#prune();
    return this.#closed.get(bytesToHash(hash));
  }

  /** It was accepted once more. */
  delete(hash: Uint8Array): void {
    this.#closed.delete(bytesToHash(hash));
  }

  all(): Iterable<ClosedTransaction> {
    this.#prune();
    return this.#closed.values();
  }

  #prune(): void {
    const oldestMs = this.#now() - this.#keptMs;
    for (const [key, { closedMs }] of this.#closed) {
      if (closedMs >= oldestMs && this.#closed.size <= KEPT_MAX) return;
      this.#closed.delete(key);
    }
  }
}

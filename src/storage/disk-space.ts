/**
 * Watches the room on a disk for a store that can wait: when there is none, writes are refused with
 * DISK_FULL and tried again from time to time, while reads go on.
 */
import { statfsSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";

export type DiskSpaceOptions = {
  /** Below this the stores stop writing, so that space is left for the log, which cannot wait. */
  readonly freeBytesMin?: number;
  /** How long to wait between retries on a full disk. */
  readonly retryMs?: number;
  /** Called once when the disk becomes full, not at every refused write. */
  readonly onFull?: (error: CodedError) => void;
  /** Called once when a write succeeds again. */
  readonly onRoom?: () => void;
};

export const DEFAULT_FREE_BYTES_MIN = 128 * 1024 * 1024;
const DEFAULT_RETRY_MS = 1_000;

/** What a process may still write to the file system of this path. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

export class DiskSpace {
  readonly #path: string;
  readonly #options: DiskSpaceOptions;
  #fullSinceMs: number | undefined;

  constructor(path: string, options: DiskSpaceOptions) {
    this.#path = path;
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#fullSinceMs !== undefined;
  }

  get retryMs(): number {
    return this.#options.retryMs ?? DEFAULT_RETRY_MS;
  }

  /** Throws DISK_FULL if a write should not even be tried. */
  assertRoom(): void {
    const nowMs = performance.now();
    if (this.#fullSinceMs !== undefined && nowMs - this.#fullSinceMs < this.retryMs) {
      throw this.#error(undefined);
    }
    if (!this.isLow(0)) return;
    this.refuse(undefined);
  }

  /** Whether less than the reserve and `needed` is free. */
  isLow(needed: number): boolean {
    return freeBytes(this.#path) < (this.#options.freeBytesMin ?? DEFAULT_FREE_BYTES_MIN) + needed;
  }

  /** A write found no room. */
  refuse(cause: unknown): never {
    const error = this.#error(cause);
    const wasFull = this.isFull;
    this.#fullSinceMs = performance.now();
    if (!wasFull) this.#options.onFull?.(error);
    throw error;
  }

  /** A write succeeded. */
  noteRoom(): void {
    if (!this.isFull) return;
    this.#fullSinceMs = undefined;
    this.#options.onRoom?.();
  }

  #error(cause: unknown): CodedError {
    return new CodedError(
      "DISK_FULL",
      { path: this.#path, freeBytes: freeBytes(this.#path) },
      cause,
    );
  }
}

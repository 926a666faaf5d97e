import { keyText } from "./key-text.ts";
import type { Change, Entry, KeyValueStore } from "./key-value-store.ts";

/** A full run is split in two, so that an insertion moves at most this many keys. */
const RUN_LENGTH_MAX = 512;

/** A KeyValueStore in memory: for tests and ephemeral networks. */
export class MemoryStore implements KeyValueStore {
  readonly #entries = new Map<string, Uint8Array>();
  /** The keys in order, in runs of bounded length. No run is empty. */
  readonly #runs: string[][] = [];

  get size(): number {
    return this.#entries.size;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#entries.get(keyText(key));
  }

  seek(from: Uint8Array): Entry | undefined {
    const text = keyText(from);
    const runIndex = this.#runIndex(text);
    const run = this.#runs[runIndex];
    if (run === undefined) return undefined;
    const found = run[lowerBound(run, text)] ?? this.#runs[runIndex + 1]?.[0];
    return found === undefined ? undefined : this.#entry(found);
  }

  write(changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      if (value === undefined) this.#delete(key);
      else this.#put(key, value);
    }
  }

  #put(key: Uint8Array, value: Uint8Array): void {
    const text = keyText(key);
    if (!this.#entries.has(text)) this.#insertKey(text);
    this.#entries.set(text, value);
  }

  #delete(key: Uint8Array): void {
    const text = keyText(key);
    if (!this.#entries.delete(text)) return;
    const runIndex = this.#runIndex(text);
    const run = this.#runs[runIndex];
    run?.splice(lowerBound(run, text), 1);
    if (run?.length === 0) this.#runs.splice(runIndex, 1);
  }

  /** In the order of the keys. */
  *entries(): Generator<Entry> {
    for (const run of this.#runs) {
      for (const text of run) {
        const entry = this.#entry(text);
        if (entry !== undefined) yield entry;
      }
    }
  }

  #entry(text: string): Entry | undefined {
    const value = this.#entries.get(text);
    if (value === undefined) return undefined;
    return { key: Uint8Array.from(text, (unit) => unit.charCodeAt(0)), value };
  }

  #insertKey(text: string): void {
    const runIndex = this.#runIndex(text);
    const run = this.#runs[runIndex];
    if (run === undefined) {
      this.#runs.push([text]);
      return;
    }
    run.splice(lowerBound(run, text), 0, text);
    if (run.length > RUN_LENGTH_MAX) {
      this.#runs.splice(runIndex + 1, 0, run.splice(RUN_LENGTH_MAX / 2));
    }
  }

  /** The run that holds the key or would take it: the last that begins at or below it. */
  #runIndex(text: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#runs[middle]?.[0] ?? "") <= text) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

function lowerBound(run: readonly string[], text: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

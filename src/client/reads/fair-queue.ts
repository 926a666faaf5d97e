/**
 * What waits for a thread, by caller: callers take turns, and each may have only so many waiting
 * and running. Without it, the jobs of one caller would stand before those of all others.
 */
import { invariant } from "../../base/invariant.ts";

export type FairQueueOptions = {
  /** Items that wait, of all callers and of one. */
  readonly waitingMax: number;
  readonly waitingCallerMax: number;
  /** Items of one caller that may have been taken and not been released. */
  readonly runningCallerMax: number;
};

type Line<Item> = { waiting: Item[]; runningCount: number };

export class FairQueue<Item> {
  readonly #options: FairQueueOptions;
  /** Only callers with something waiting or running; the next turn is that of the first. */
  readonly #lines = new Map<string, Line<Item>>();
  #waitingCount = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** The item that has no room: this one, or the last of a caller who has more waiting. */
  add(caller: string, item: Item): Item | undefined {
    const { waitingMax, waitingCallerMax } = this.#options;
    const ownCount = this.#lines.get(caller)?.waiting.length ?? 0;
    if (ownCount >= waitingCallerMax) return item;
    let refused: Item | undefined;
    if (this.#waitingCount >= waitingMax) {
      const longest = this.#longest();
      if (longest === undefined || longest.waiting.length <= ownCount + 1) return item;
      refused = longest.waiting.pop();
      this.#waitingCount--;
    }
    const line = this.#lines.get(caller) ?? { waiting: [], runningCount: 0 };
    this.#lines.set(caller, line);
    line.waiting.push(item);
    this.#waitingCount++;
    return refused;
  }

  /** The next item; undefined if none waits whose caller may have one more running. */
  take(): { readonly caller: string; readonly item: Item } | undefined {
    for (const [caller, line] of this.#lines) {
      if (line.runningCount >= this.#options.runningCallerMax) continue;
      const item = line.waiting.shift();
      if (item === undefined) continue;
      this.#waitingCount--;
      line.runningCount++;
      // All others come first now.
      this.#lines.delete(caller);
      this.#lines.set(caller, line);
      return { caller, item };
    }
    return undefined;
  }

  /** What was taken has ended. */
  release(caller: string): void {
    const line = this.#lines.get(caller);
    invariant(line !== undefined && line.runningCount > 0, "what ends was taken before");
    line.runningCount--;
    this.#forgetIfEmpty(caller, line);
  }

  /** Takes those out that match, in any order. */
  remove(isRemoved: (item: Item) => boolean): readonly Item[] {
    const removed: Item[] = [];
    for (const [caller, line] of this.#lines) {
      const kept: Item[] = [];
      for (const item of line.waiting) (isRemoved(item) ? removed : kept).push(item);
      line.waiting = kept;
      this.#forgetIfEmpty(caller, line);
    }
    this.#waitingCount -= removed.length;
    return removed;
  }

  #longest(): Line<Item> | undefined {
    let longest: Line<Item> | undefined;
    for (const line of this.#lines.values()) {
      if (longest === undefined || line.waiting.length > longest.waiting.length) longest = line;
    }
    return longest;
  }

  #forgetIfEmpty(caller: string, line: Line<Item>): void {
    if (line.waiting.length === 0 && line.runningCount === 0) this.#lines.delete(caller);
  }
}

/**
 * Virtual time: a binary heap of what happens next. Time is a count of microseconds, and events of
 * one instant run in the order in which they were scheduled, so that a seed has exactly one
 * history.
 */
import { invariant } from "../../src/base/invariant.ts";

type Event = { readonly atUs: number; readonly sequence: number; readonly run: () => void };

export class EventQueue {
  readonly #heap: Event[] = [];
  #nowUs = 0;
  #sequence = 0;

  nowUs(): number {
    return this.#nowUs;
  }

  nowMs(): number {
    return this.#nowUs / 1000;
  }

  size(): number {
    return this.#heap.length;
  }

  /** Runs `run` after `delayUs`; a delay of zero means after everything due at this instant. */
  after(delayUs: number, run: () => void): void {
    this.at(this.#nowUs + Math.max(0, Math.round(delayUs)), run);
  }

  at(atUs: number, run: () => void): void {
    invariant(atUs >= this.#nowUs, "nothing can be scheduled in the past");
    const event = { atUs, sequence: this.#sequence++, run };
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  /** Runs the next event and returns true, or returns false when none is due by `untilUs`. */
  runNext(untilUs: number): boolean {
    const next = this.#heap[0];
    if (next === undefined || next.atUs > untilUs) {
      this.#nowUs = Math.max(this.#nowUs, untilUs);
      return false;
    }
    this.#removeFirst();
    this.#nowUs = next.atUs;
    next.run();
    return true;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atUs !== b.atUs ? a.atUs < b.atUs : a.sequence < b.sequence;
}

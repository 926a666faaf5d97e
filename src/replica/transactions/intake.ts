/**
 * Transactions that were received and are not checked yet. Each source has a lane with a budget of
 * its own, and signature checks go round the lanes, so that a flood of one source costs the others
 * neither memory nor their turn. A lane that fills asks for its link to be held; what comes beyond
 * its budget is dropped, and is sent again by a correct sender.
 */
import type { Hash } from "../../consensus/block.ts";

export type Refuse = (id: Hash, code: string) => void;

export type Unchecked = {
  readonly bytes: Uint8Array;
  readonly source: string;
  readonly refuse: Refuse | undefined;
};

export type IntakeLimits = { readonly laneCountMax: number; readonly laneBytesMax: number };

export type IntakeDependencies = {
  /** Stops reading from a source, or goes on. */
  readonly hold?: ((source: string, isHeld: boolean) => void) | undefined;
};

type Lane = { entries: Unchecked[]; next: number; bytes: number; isHeld: boolean };

/** More than the transactions that a replica may forward at once (its whole pool). */
export const DEFAULT_INTAKE_LIMITS: IntakeLimits = {
  laneCountMax: 32_768,
  laneBytesMax: 16 * 1024 * 1024,
};

const HOLD_SHARE = 1 / 8;
const RELEASE_SHARE = 1 / 16;

export class Intake {
  readonly #limits: IntakeLimits;
  readonly #dependencies: IntakeDependencies;
  /** Only those that hold something; the one whose turn is next is the first. */
  readonly #lanes = new Map<string, Lane>();
  #size = 0;
  /** Beyond a budget, ever. */
  droppedCount = 0;

  constructor(limits: IntakeLimits, dependencies: IntakeDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#size;
  }

  push(unchecked: Unchecked): void {
    const { bytes, source } = unchecked;
    const lane = this.#lanes.get(source) ?? { entries: [], next: 0, bytes: 0, isHeld: false };
    const { laneCountMax, laneBytesMax } = this.#limits;
    const isOver = countOf(lane) >= laneCountMax || lane.bytes + bytes.length > laneBytesMax;
    if (isOver) {
      this.droppedCount++;
      return;
    }
    this.#lanes.set(source, lane);
    lane.entries.push(unchecked);
    lane.bytes += bytes.length;
    this.#size++;
    if (!lane.isHeld && this.#isAbove(lane, HOLD_SHARE)) {
      lane.isHeld = true;
      this.#dependencies.hold?.(source, true);
    }
  }

  /** At most so many, an equal share of each lane; a lane keeps its order. */
  take(countMax: number): Unchecked[] {
    const taken: Unchecked[] = [];
    while (taken.length < countMax && this.#lanes.size > 0) {
      const quantum = Math.max(1, Math.floor((countMax - taken.length) / this.#lanes.size));
      for (const [source, lane] of [...this.#lanes]) {
        if (taken.length >= countMax) break;
        this.#takeFrom(source, lane, Math.min(quantum, countMax - taken.length), taken);
      }
    }
    return taken;
  }

  /** The source was cut off: what it sent is not worth checking. */
  forget(source: string): void {
    const lane = this.#lanes.get(source);
    if (lane === undefined) return;
    this.#size -= countOf(lane);
    this.#lanes.delete(source);
    if (lane.isHeld) this.#dependencies.hold?.(source, false);
  }

  #takeFrom(source: string, lane: Lane, count: number, taken: Unchecked[]): void {
    const end = Math.min(lane.entries.length, lane.next + count);
    for (; lane.next < end; lane.next++) {
      const unchecked = lane.entries[lane.next];
      if (unchecked === undefined) continue;
      taken.push(unchecked);
      lane.bytes -= unchecked.bytes.length;
      this.#size--;
    }
    // Behind the others: the next turn begins with those that got nothing in this one.
    this.#lanes.delete(source);
    if (countOf(lane) > 0) this.#lanes.set(source, lane);
    // Half of the list is taken: the rest moves, at a cost that is the same for every entry.
    if (lane.next * 2 >= lane.entries.length) {
      lane.entries = lane.entries.slice(lane.next);
      lane.next = 0;
    }
    if (lane.isHeld && !this.#isAbove(lane, RELEASE_SHARE)) {
      lane.isHeld = false;
      this.#dependencies.hold?.(source, false);
    }
  }

  #isAbove(lane: Lane, share: number): boolean {
    const { laneCountMax, laneBytesMax } = this.#limits;
    return countOf(lane) > share * laneCountMax || lane.bytes > share * laneBytesMax;
  }
}

function countOf({ entries, next }: Lane): number {
  return entries.length - next;
}

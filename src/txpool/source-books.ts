/**
 * What the pool holds by source, the principal, identity or address that handed it in, and which of
 * it is queued. Queued transactions cost their sender nothing, so they are the ones that give way:
 * those of the source that holds the largest share of the queue go first.
 */
import type { Slot } from "./sender-queue.ts";

export type Usage = { readonly count: number; readonly bytes: number };

export type QueueLimits = { readonly queuedMax: number; readonly queuedBytesMax: number };

type Entry = {
  count: number;
  bytes: number;
  queuedBytes: number;
  /** In the order in which they became queued. */
  readonly queued: Set<Slot>;
};

const NOTHING: Usage = { count: 0, bytes: 0 };
const NO_SLOTS: readonly Slot[] = [];

export class SourceBooks {
  readonly #limits: QueueLimits;
  readonly #entries = new Map<string, Entry>();
  /** Of all sources, in the order in which they became queued. */
  readonly #queued = new Set<Slot>();
  #bytes = 0;
  #queuedBytes = 0;
  #count = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** The oldest first; `Slot.queuedMs` never goes down along it. */
  get queued(): ReadonlySet<Slot> {
    return this.#queued;
  }

  total(): Usage {
    return { count: this.#count, bytes: this.#bytes };
  }

  totalQueued(): Usage {
    return { count: this.#queued.size, bytes: this.#queuedBytes };
  }

  usageOf(source: string): Usage {
    return this.#entries.get(source) ?? NOTHING;
  }

  queuedOf(source: string): Usage {
    const entry = this.#entries.get(source);
    return entry === undefined ? NOTHING : { count: entry.queued.size, bytes: entry.queuedBytes };
  }

  queuedSlotsOf(source: string): Iterable<Slot> {
    return this.#entries.get(source)?.queued ?? NO_SLOTS;
  }

  /** How much of the queue so much is, in its scarcer unit. */
  shareOf({ count, bytes }: Usage): number {
    const { queuedMax, queuedBytesMax } = this.#limits;
    return Math.max(count / queuedMax, bytes / queuedBytesMax);
  }

  /** The source with the largest share of the queue; undefined while nothing is queued. */
  heaviest(): string | undefined {
    let found: string | undefined;
    let most = 0;
    for (const [source, { queued, queuedBytes }] of this.#entries) {
      const share = this.shareOf({ count: queued.size, bytes: queuedBytes });
      if (share <= most) continue;
      found = source;
      most = share;
    }
    return found;
  }

  enter({ pooled }: Slot): void {
    const size = pooled.transaction.encoded.length;
    this.#count++;
    this.#bytes += size;
    const entry = this.#entries.get(pooled.source);
    if (entry === undefined) {
      const created = { count: 1, bytes: size, queuedBytes: 0, queued: new Set<Slot>() };
      this.#entries.set(pooled.source, created);
      return;
    }
    entry.count++;
    entry.bytes += size;
  }

  leave(slot: Slot): void {
    this.unqueue(slot);
    const { source, transaction } = slot.pooled;
    const size = transaction.encoded.length;
    this.#count--;
    this.#bytes -= size;
    const entry = this.#entries.get(source);
    if (entry === undefined) return;
    entry.count--;
    entry.bytes -= size;
    if (entry.count === 0) this.#entries.delete(source);
  }

  queue(slot: Slot, nowMs: number): void {
    const entry = this.#entries.get(slot.pooled.source);
    if (entry === undefined || this.#queued.has(slot)) return;
    const size = slot.pooled.transaction.encoded.length;
    slot.queuedMs = nowMs;
    this.#queued.add(slot);
    this.#queuedBytes += size;
    entry.queued.add(slot);
    entry.queuedBytes += size;
  }

  unqueue(slot: Slot): void {
    if (!this.#queued.delete(slot)) return;
    const size = slot.pooled.transaction.encoded.length;
    this.#queuedBytes -= size;
    const entry = this.#entries.get(slot.pooled.source);
    if (entry === undefined) return;
    entry.queued.delete(slot);
    entry.queuedBytes -= size;
  }
}

/**
 * Whether a newcomer fits the pool, and which queued transactions give way to it. An executable one
 * is refused only for what other executable ones take up; a queued one displaces only queued ones,
 * and only those of a source with a larger share of the queue.
 */
import { err, ok, type Result } from "../base/result.ts";
import type { TxPoolOptions } from "./pool-options.ts";
import type { PoolRefusal } from "./pool-refusal.ts";
import type { SenderQueue, Slot } from "./sender-queue.ts";
import type { SourceBooks, Usage } from "./source-books.ts";

export type Newcomer = {
  readonly source: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** Whose place it takes. */
  readonly held: Slot | undefined;
};

const NO_VICTIMS: readonly Slot[] = [];

/** The queued slots that must leave for it, or why it is refused. Changes nothing. */
export function chooseVictims(
  options: TxPoolOptions,
  books: SourceBooks,
  queue: SenderQueue,
  newcomer: Newcomer,
): Result<readonly Slot[], PoolRefusal> {
  const { senderTransactionsMax, senderBytesMax } = options;
  const ofSender = withNewcomer({ count: queue.size, bytes: queue.bytes }, newcomer, true);
  if (isOver(ofSender, senderTransactionsMax, senderBytesMax)) {
    return err({ code: "TX_SENDER_LIMIT" });
  }
  return newcomer.isExecutable
    ? makeRoomForExecutable(options, books, newcomer)
    : makeRoomForQueued(options, books, newcomer);
}

function makeRoomForExecutable(
  options: TxPoolOptions,
  books: SourceBooks,
  newcomer: Newcomer,
): Result<readonly Slot[], PoolRefusal> {
  const { sourceTransactionsMax, sourceBytesMax, transactionsMax, bytesMax } = options;
  const { source, held } = newcomer;
  const isOwn = held?.pooled.source === source;
  const ofSource = withNewcomer(books.usageOf(source), newcomer, isOwn);
  const total = withNewcomer(books.total(), newcomer, true);
  const isSourceOver = isOver(ofSource, sourceTransactionsMax, sourceBytesMax);
  const isPoolOver = isOver(total, transactionsMax, bytesMax);
  if (!isSourceOver && !isPoolOver) return ok(NO_VICTIMS);

  const victims = new Set<Slot>();
  const own = new Excess(ofSource, sourceTransactionsMax, sourceBytesMax);
  for (const slot of books.queuedSlotsOf(source)) {
    if (own.isGone) break;
    if (slot === held) continue;
    victims.add(slot);
    own.free(slot);
  }
  if (!own.isGone) return err({ code: "TX_SOURCE_LIMIT" });
  const all = new Excess(total, transactionsMax, bytesMax);
  for (const slot of victims) all.free(slot);
  const heaviest = books.heaviest();
  // One source is enough nearly always; the others follow in the order of age.
  for (const slots of [heaviest === undefined ? [] : books.queuedSlotsOf(heaviest), books.queued]) {
    for (const slot of slots) {
      if (all.isGone) break;
      if (slot === held || victims.has(slot)) continue;
      victims.add(slot);
      all.free(slot);
    }
  }
  return all.isGone ? ok([...victims]) : err({ code: "TX_POOL_FULL" });
}

function makeRoomForQueued(
  options: TxPoolOptions,
  books: SourceBooks,
  newcomer: Newcomer,
): Result<readonly Slot[], PoolRefusal> {
  const { source, held } = newcomer;
  const isOwn = held?.pooled.source === source;
  const ofSource = withNewcomer(books.usageOf(source), newcomer, isOwn);
  const queuedOfSource = withNewcomer(books.queuedOf(source), newcomer, isOwn);
  if (
    isOver(ofSource, options.sourceTransactionsMax, options.sourceBytesMax) ||
    isOver(queuedOfSource, options.sourceQueuedMax, options.sourceQueuedBytesMax)
  ) {
    return err({ code: "TX_SOURCE_LIMIT" });
  }
  const { queuedMax, queuedBytesMax, transactionsMax, bytesMax } = options;
  const queued = new Excess(
    withNewcomer(books.totalQueued(), newcomer, true),
    queuedMax,
    queuedBytesMax,
  );
  const all = new Excess(withNewcomer(books.total(), newcomer, true), transactionsMax, bytesMax);
  if (queued.isGone && all.isGone) return ok(NO_VICTIMS);

  const refusal = err({ code: queued.isGone ? "TX_POOL_FULL" : "TX_QUEUE_FULL" } as const);
  const heaviest = books.heaviest();
  if (heaviest === undefined || heaviest === source) return refusal;
  const shareMin = books.shareOf(queuedOfSource);
  let { count, bytes } = books.queuedOf(heaviest);
  const victims: Slot[] = [];
  for (const slot of books.queuedSlotsOf(heaviest)) {
    if (queued.isGone && all.isGone) break;
    if (slot === held) continue;
    if (books.shareOf({ count, bytes }) <= shareMin) return refusal;
    victims.push(slot);
    queued.free(slot);
    all.free(slot);
    count--;
    bytes -= sizeOf(slot);
  }
  return queued.isGone && all.isGone ? ok(victims) : refusal;
}

/** What is used when the newcomer is in, and the one whose place it takes is not. */
function withNewcomer(used: Usage, { size, held }: Newcomer, countsHeld: boolean): Usage {
  const isFreed = countsHeld && held !== undefined;
  return {
    count: used.count + 1 - (isFreed ? 1 : 0),
    bytes: used.bytes + size - (isFreed ? sizeOf(held) : 0),
  };
}

/** How much must leave until a limit holds. */
class Excess {
  #count: number;
  #bytes: number;

  constructor(used: Usage, countMax: number, bytesMax: number) {
    this.#count = used.count - countMax;
    this.#bytes = used.bytes - bytesMax;
  }

  get isGone(): boolean {
    return this.#count <= 0 && this.#bytes <= 0;
  }

  free(slot: Slot): void {
    this.#count--;
    this.#bytes -= sizeOf(slot);
  }
}

function isOver({ count, bytes }: Usage, countMax: number, bytesMax: number): boolean {
  return count > countMax || bytes > bytesMax;
}

function sizeOf({ pooled }: Slot): number {
  return pooled.transaction.encoded.length;
}

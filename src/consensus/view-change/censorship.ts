/**
 * Censorship: a leader that leaves out transactions it received (PROTOCOL §6.1 f). A correct leader
 * works in order of arrival and puts into a block all that waits and fits; every rule here follows
 * from that, so no rule complains about a leader that is only busy.
 */
import type { Block, Transaction } from "../block.ts";
import { chainHashes } from "../chain-hashes.ts";
import { complain } from "./view-complaint.ts";
import { sendNow, type Core, type ProposedBlock } from "../core.ts";
import { dueRejoin } from "../recovery/epoch.ts";
import type { Pending } from "../agreement/pending-queue.ts";

/** Remembers what a proposal carries, and complains about what it leaves out. */
export function noteCarried(core: Core, block: Block): void {
  const { clock, pending } = core;
  let youngestMs = -Infinity;
  for (const transaction of block.body.transactions) {
    const known = pending.markProposed(transaction.id, block.hash);
    if (known !== undefined) youngestMs = Math.max(youngestMs, known.arrivedMs);
    else if (!pending.isSettled(transaction.id)) pending.noteUnknown(transaction.gas);
  }
  const proposed = describe(block, clock.nowMs);
  pending.noteOrdered(proposed.gas);
  const before = core.views.lastProposed;
  core.views.lastProposed = proposed;
  const leftOut = findLeftOut(core, block, youngestMs, before);
  if (leftOut === undefined && !isRejoinOvertaken(core, block)) return;
  if (core.views.ownComplaint !== undefined) return;
  complain(core, "censorship");
  // The others cannot miss what they never received: they forward it to the leader as well, and
  // watch.
  if (leftOut !== undefined) sendNow(core, "all", { kind: "forward", transaction: leftOut });
}

function describe({ hash, body }: Block, atMs: number): ProposedBlock {
  let [bytes, gas] = [0, 0];
  for (const transaction of body.transactions) {
    bytes += transaction.bytes.length;
    gas += transaction.gas;
  }
  return { hash, atMs, bytes, gas, count: body.transactions.length };
}

/** The oldest transaction that this leader has certainly passed over. */
function findLeftOut(
  core: Core,
  block: Block,
  youngestMs: number,
  before: ProposedBlock | undefined,
): Transaction | undefined {
  const path = core.tree.pathTo(block.hash);
  // A block that we missed may carry it.
  if (path === undefined) return undefined;
  const { requestMs } = core.parameters.timing;
  const roomyAtMs = hadRoom(core, block, before) ? (before?.atMs ?? -Infinity) : -Infinity;
  for (const waiting of core.pending.waiting(chainHashes(core))) {
    const { transaction, arrivedMs, forwardedMs } = waiting;
    // In order of arrival: none after it has been here long enough to have been handed over.
    if (arrivedMs + requestMs > core.clock.nowMs) return undefined;
    if (forwardedMs === undefined || forwardedMs + requestMs > core.clock.nowMs) continue;
    const isOvertaken = arrivedMs + requestMs < youngestMs;
    const isLeftOut = isOvertaken || forwardedMs + requestMs <= roomyAtMs;
    if (!isLeftOut && !isCrowdedOut(core, waiting)) continue;
    // Blocks that were fetched rather than proposed to us are on the path only.
    const isCarried = path.some((held) =>
      held.block.body.transactions.some(({ id }) => id === transaction.id),
    );
    if (!isCarried) return transaction;
  }
  return undefined;
}

/**
 * Whether the first transaction of the block would have fitted into the block before: then that one
 * was not full, and a correct leader had nothing else to order.
 */
function hadRoom(core: Core, block: Block, before: ProposedBlock | undefined): boolean {
  const [first] = block.body.transactions;
  if (first === undefined || before?.hash !== block.header.parent) return false;
  const { blockTransactionsMax, blockBytesMax, blockGasMax } = core.parameters;
  return (
    before.count > 0 &&
    before.count < blockTransactionsMax &&
    before.bytes + first.bytes.length <= blockBytesMax &&
    before.gas + first.gas <= blockGasMax
  );
}

/**
 * Full blocks excuse a leader only if they hold transactions that others wait for too. If most of
 * what it ordered since it received the transaction never reached us, then the leader made those
 * transactions itself, or it had a backlog of several seconds that it did not forward.
 */
function isCrowdedOut(core: Core, { forwardedMs, orderedAtForward }: Pending): boolean {
  const { backoffMaxMs } = core.parameters.timing;
  if (forwardedMs === undefined || forwardedMs + backoffMaxMs > core.clock.nowMs) return false;
  const { gas, unknownGas } = core.pending.ordered;
  const ordered = gas - orderedAtForward.gas;
  return 2 * (unknownGas - orderedAtForward.unknownGas) > ordered;
}

/**
 * A Rejoin goes first: a leader that has had one for a while and proposes something else withholds
 * it.
 */
function isRejoinOvertaken(core: Core, block: Block): boolean {
  if (block.body.rejoin !== undefined) return false;
  const sinceMs = dueRejoin(core)?.sinceMs ?? Infinity;
  return sinceMs + 2 * core.parameters.timing.requestMs <= core.clock.nowMs;
}

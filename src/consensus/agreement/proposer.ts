/**
 * The leader's part (PROTOCOL §5.8): the first transaction of an idle network is proposed at once;
 * while blocks are in flight, transactions gather, and the next block takes them all.
 */
import { bodySize, type Block, type Body, type Header } from "../block.ts";
import { chainHashes } from "../chain-hashes.ts";
import { leader, sendNow, type Core } from "../core.ts";
import { dueRejoin } from "../recovery/epoch.ts";
import type { Propose } from "../message.ts";
import { bodyFault, judgeProposal } from "./proposal-validation.ts";
import { holdBlock } from "./voter.ts";

/** How far apart a busy leader's blocks are, in times that agreeing on one takes. */
const COMMITS_APART = 4;

export function propose(core: Core): boolean {
  core.timers.proposeDueMs = undefined;
  if (!isLeading(core) || core.proposals.has(core.tip.height + 1)) return false;
  const parent = core.tree.link(core.tip)?.header;
  const path = core.tree.pathTo(core.tip.hash);
  if (parent === undefined || path === undefined) return false;
  if (path.some(({ block }) => block.body.rejoin !== undefined)) return false;
  const execHeight = Math.min(core.execution.height, core.tip.height);
  const lowest = Math.max(parent.execHeight, core.tip.height + 1 - core.parameters.execLagMax);
  const execResult = core.execution.results.get(execHeight);
  // Ordering waits for execution when it is too far ahead; it goes on when `executed` comes in.
  if (execHeight < lowest || execResult === undefined) return false;

  const body = nextBody(core);
  if (body === undefined) return false;
  const timestampMs = Math.max(core.clock.wallMs, parent.timestampMs + 1);
  if (isAheadOfClock(core, timestampMs)) return false;
  const frame = {
    epoch: core.epoch,
    height: core.tip.height + 1,
    parent: core.tip.hash,
    timestampMs,
    execHeight,
    execResult,
  };
  const header: Header = {
    ...frame,
    payloadHash: core.ports.hashBody(body),
    txCount: body.transactions.length,
    payloadSize: bodySize(body),
  };
  return publish(core, { hash: core.ports.hashHeader(header), header, body });
}

/**
 * PROTOCOL §10: every block takes a millisecond of the chain's time. Faster than that, the chain
 * would run ahead until replicas whose clocks are a little behind hold every vote; so the leader
 * waits, and what gathers meanwhile makes the next block larger.
 */
function isAheadOfClock({ clock, timers, parameters }: Core, timestampMs: number): boolean {
  const aheadMs = timestampMs - clock.wallMs - parameters.timing.clockLeadMaxMs;
  if (aheadMs <= 0) return false;
  timers.proposeDueMs = clock.nowMs + aheadMs;
  return true;
}

function isLeading(core: Core): boolean {
  return (
    core.mode === "active" &&
    core.isAccepted &&
    core.mayLead &&
    !core.isTipConflicting &&
    leader(core) === core.self &&
    core.tip.height - core.final.link.height < core.parameters.window
  );
}

function nextBody(core: Core): Body | undefined {
  const due = dueRejoin(core);
  if (due !== undefined) return { transactions: [], rejoin: due.rejoin };
  const { blockTransactionsMax, blockBytesMax, blockGasMax } = core.parameters;
  const { transactions, isFull } = core.pending.batch(
    { transactionsMax: blockTransactionsMax, bytesMax: blockBytesMax, gasMax: blockGasMax },
    chainHashes(core),
  );
  if (transactions.length === 0) return undefined;
  if (!isFull && isGathering(core, transactions.length)) return undefined;
  return { transactions, rejoin: undefined };
}

/**
 * A block costs every replica as much as twenty transactions. So agreeing may take a quarter of
 * a busy leader's time and no more: a few milliseconds between two blocks where there is time to
 * spare, longer where there is none, and then fewer and larger blocks carry the same load.
 */
function isGathering({ tip, final, timers, clock, parameters }: Core, waiting: number): boolean {
  const { gatherFrom, gatherPerBlock, timing } = parameters;
  const inFlight = tip.height - final.link.height;
  if (waiting < inFlight * gatherPerBlock) return true;
  const { lastProposal } = timers;
  if (lastProposal === undefined || waiting >= gatherPerBlock) return false;
  if (Math.max(waiting, lastProposal.txCount) < gatherFrom) return false;
  const distanceMs = Math.min(COMMITS_APART * timers.usualCommitMs, timing.gatherMaxMs);
  const dueMs = lastProposal.atMs + distanceMs;
  if (clock.nowMs >= dueMs) return false;
  timers.proposeDueMs = dueMs;
  return true;
}

/** The block is sent to all at once; our own vote for it is made durable in parallel. */
function publish(core: Core, block: Block): boolean {
  // A leader must not propose what it would not vote for itself: every replica would complain.
  if (judgeProposal(core, block, bodyFault(core, block, true)).kind !== "vote") return false;
  if (!holdBlock(core, block, true)) return false;
  const { epoch, self: sender, view } = core;
  const { hash: blockHash, header, body } = block;
  const { height } = header;
  const signature = core.ports.sign({
    kind: "proposeClaim",
    epoch,
    sender,
    view,
    height,
    blockHash,
  });
  const message: Propose = {
    kind: "propose",
    epoch,
    sender,
    view,
    header,
    blockHash,
    body,
    signature,
  };
  core.proposals.set(height, message);
  core.timers.lastProposal = { atMs: core.clock.nowMs, txCount: header.txCount };
  for (const { id } of body.transactions) {
    core.pending.markProposed(id, blockHash);
  }
  sendNow(core, "all", message);
  return true;
}

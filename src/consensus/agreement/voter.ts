/** Phase 1: proposals come in, votes go out (PROTOCOL §5.1, §5.7). */
import { err, ok, type Result } from "../../base/result.ts";
import type { Block, BlockRef, Hash, ReplicaIndex } from "../block.ts";
import type { TreeBlock } from "../block-tree.ts";
import { noteCarried } from "../view-change/censorship.ts";
import { complain } from "../view-change/view-complaint.ts";
import { append, leader, sendAfterSync, signed, type Core } from "../core.ts";
import { accuse } from "../view-change/evidence.ts";
import type { Propose, ProposeClaim } from "../message.ts";
import { bodyFault, judgeProposal } from "./proposal-validation.ts";
import type { Rejection, RejectionCode } from "../rejection.ts";
import { mayVote } from "../safety/safety-rules.ts";

export function onPropose(
  core: Core,
  from: ReplicaIndex,
  message: Propose,
  transactionsValid: boolean,
): Result<void, Rejection> {
  if (message.view < core.view) return err({ code: "MESSAGE_VIEW_PAST" });
  if (message.view > core.view) return err({ code: "MESSAGE_VIEW_TOO_FAR" });
  if (message.sender !== leader(core)) return err({ code: "MESSAGE_NOT_FROM_LEADER" });
  const { height } = message.header;
  const { height: finalHeight } = core.final.link;
  if (height <= finalHeight || height > finalHeight + 2 * core.parameters.window) {
    return err({ code: "MESSAGE_HEIGHT_OUTSIDE_WINDOW" });
  }
  const first = core.proposals.get(height);
  if (first !== undefined) {
    if (first.blockHash === message.blockHash) return err({ code: "MESSAGE_DUPLICATE" });
    accuse(core, { kind: "evidence", first: claimOf(first), second: claimOf(message) });
    return err({ code: "MESSAGE_EQUIVOCATION" });
  }
  const block: Block = { hash: message.blockHash, header: message.header, body: message.body };
  const fault = bodyFault(core, block, transactionsValid);
  if (fault === "PROPOSAL_HASH_MISMATCH") {
    // A wrong body kept under this hash would become final in place of the real block. Only the
    // leader's own link is proof against the leader: any other peer may have attached the wrong
    // body to a genuine signature.
    if (from === message.sender) complain(core, "invalid-proposal");
    return err({ code: fault });
  }
  if (!keep(core, block, fault)) return err({ code: "MESSAGE_UNWANTED" });
  core.proposals.set(height, message);
  noteCarried(core, block);
  return ok(undefined);
}

/** Keeps a block with the verdict on its body. */
export function holdBlock(core: Core, block: Block, transactionsValid: boolean): boolean {
  if (core.tree.get(block.hash) !== undefined) return true;
  return keep(core, block, bodyFault(core, block, transactionsValid));
}

function keep(core: Core, block: Block, fault: RejectionCode | undefined): boolean {
  return core.tree.add(block, fault, () => neededBlocks(core));
}

/** Blocks that our votes, our certificates or the view we are entering stand on. */
function neededBlocks(core: Core): ReadonlySet<Hash> {
  const needed = new Set<Hash>();
  const tips: BlockRef[] = [core.tip, { height: 0, hash: core.highCert.blockHash }];
  if (core.votedTip !== undefined) tips.push(core.votedTip);
  for (const { hash } of tips) {
    for (const { block } of core.tree.pathTo(hash) ?? []) needed.add(block.hash);
  }
  for (const { choice } of core.views.newViews.values()) {
    for (const { hash } of choice.path) needed.add(hash);
  }
  for (const { blockHash } of core.proposals.values()) needed.add(blockHash);
  return needed;
}

/** Casts every vote that is due, one height after another. */
export function castVotes(core: Core): boolean {
  // Checked first: a replica that does not vote has no reason to wait either.
  core.timers.heldUntilMs = undefined;
  if (core.mode !== "active" || !core.isAccepted || core.isTipConflicting) return false;
  for (const held of candidates(core, core.tip.height + 1)) {
    const { header } = held.block;
    const proposal = { view: core.view, height: header.height, parent: header.parent };
    if (!mayVote(core, proposal)) continue;
    const verdict = judgeProposal(core, held.block, held.fault);
    if (verdict.kind === "invalid") {
      complain(core, "invalid-proposal");
    } else if (verdict.kind === "hold") {
      core.timers.heldUntilMs = verdict.untilMs;
    } else {
      if (verdict.isStale && !core.timers.hasComplainedOfTimestamp) {
        core.timers.hasComplainedOfTimestamp = true;
        complain(core, "stale-timestamp");
      }
      castVote(core, held.block);
      return true;
    }
  }
  return false;
}

/** The leader's block first, then any that f+1 voters vouch for (PROTOCOL §5.7). */
function candidates(core: Core, height: number): readonly TreeBlock[] {
  const hashes: Hash[] = [];
  const proposal = core.proposals.get(height);
  if (proposal !== undefined) hashes.push(proposal.blockHash);
  for (const [hash, count] of core.ballots.votes.counts(height)) {
    if (count >= core.quorum.weak && !hashes.includes(hash)) hashes.push(hash);
  }
  return hashes.flatMap((hash) => core.tree.get(hash) ?? []);
}

/** Writes the block and the vote down, then votes. */
export function castVote(core: Core, block: BlockRef | Block): void {
  const height = "header" in block ? block.header.height : block.height;
  logBlocksTo(core, block.hash);
  append(core, { kind: "vote", view: core.view, height, blockHash: block.hash });
  core.tip = { height, hash: block.hash };
  core.votedView = core.view;
  core.votedTip = core.tip;
  core.ownVotes.push(core.tip);
  core.timers.votedAtMs.set(height, core.clock.nowMs);
  const vote = signed(core, {
    kind: "vote",
    epoch: core.epoch,
    sender: core.self,
    view: core.view,
    height,
    blockHash: block.hash,
  });
  sendAfterSync(core, "all", vote);
}

/** Appends every block up to `hash` that the log does not hold yet. */
export function logBlocksTo(core: Core, hash: Hash): void {
  for (const held of core.tree.pathTo(hash) ?? []) {
    if (held.isLogged) continue;
    append(core, { kind: "block", block: held.block });
    held.isLogged = true;
  }
}

export function claimOf(message: Propose): ProposeClaim {
  return {
    kind: "proposeClaim",
    epoch: message.epoch,
    sender: message.sender,
    signature: message.signature,
    view: message.view,
    height: message.header.height,
    blockHash: message.blockHash,
  };
}

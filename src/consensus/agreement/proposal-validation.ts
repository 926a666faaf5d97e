/**
 * The checks of a voter on a block (PROTOCOL §5.7). Three outcomes, never two: vote, hold
 * (something is missing that may still arrive; the leader is not at fault), invalid (the leader is
 * at fault). The leader runs the same check on its own block before it proposes it.
 */
import { bodySize, type Block, type Hash, type Header } from "../block.ts";
import type { Core } from "../core.ts";
import { isRejoinAllowed } from "../recovery/epoch.ts";
import type { RejectionCode } from "../rejection.ts";

export type Verdict =
  | { readonly kind: "vote"; readonly isStale: boolean }
  | { readonly kind: "hold"; readonly untilMs?: number }
  | { readonly kind: "invalid"; readonly code: RejectionCode };

/** Properties of a body that never change, checked once when it arrives. */
export function bodyFault(
  core: Core,
  block: Block,
  transactionsValid: boolean,
): RejectionCode | undefined {
  const { header, body, hash } = block;
  const { parameters, ports } = core;
  if (ports.hashHeader(header) !== hash) return "PROPOSAL_HASH_MISMATCH";
  if (ports.hashBody(body) !== header.payloadHash) return "PROPOSAL_HASH_MISMATCH";
  const size = bodySize(body);
  if (header.txCount !== body.transactions.length || header.payloadSize !== size) {
    return "PROPOSAL_MALFORMED";
  }
  const isRejoin = body.rejoin !== undefined;
  // A block carries transactions or one Rejoin; an empty one would be written for nothing.
  if (isRejoin === body.transactions.length > 0) return "PROPOSAL_MALFORMED";
  if (header.txCount > parameters.blockTransactionsMax || size > parameters.blockBytesMax) {
    return "PROPOSAL_MALFORMED";
  }
  let gas = 0;
  const ids = new Set<Hash>();
  for (const transaction of body.transactions) {
    gas += transaction.gas;
    ids.add(transaction.id);
  }
  if (gas > parameters.blockGasMax) return "PROPOSAL_MALFORMED";
  if (ids.size !== body.transactions.length) return "PROPOSAL_TRANSACTION_DUPLICATE";
  return transactionsValid ? undefined : "PROPOSAL_TRANSACTION_INVALID";
}

/** Whether to vote for a block that stands on the tip. */
export function judgeProposal(core: Core, block: Block, fault: RejectionCode | undefined): Verdict {
  if (fault !== undefined) return { kind: "invalid", code: fault };
  const { header } = block;
  const parent = core.tree.link(core.tip)?.header;
  const path = core.tree.pathTo(core.tip.hash);
  if (parent === undefined || path === undefined) return { kind: "hold" };
  if (header.epoch !== core.epoch) return { kind: "invalid", code: "PROPOSAL_MALFORMED" };
  if (header.height > core.final.link.height + 2 * core.parameters.window) return { kind: "hold" };
  const carried = new Set<Hash>();
  for (const { block: ancestor } of path) {
    if (ancestor.body.rejoin !== undefined) {
      return { kind: "invalid", code: "PROPOSAL_AFTER_BOUNDARY" };
    }
    for (const { id } of ancestor.body.transactions) carried.add(id);
  }
  for (const { id } of block.body.transactions) {
    if (carried.has(id)) return { kind: "invalid", code: "PROPOSAL_TRANSACTION_DUPLICATE" };
  }
  const { rejoin } = block.body;
  if (rejoin !== undefined && !isRejoinAllowed(core, rejoin, header)) {
    return { kind: "invalid", code: "PROPOSAL_REJOIN_INVALID" };
  }
  return judgeResult(core, header, parent) ?? judgeTime(core, header, parent);
}

/** PROTOCOL §8: the header commits to a result that the voter must know and share. */
function judgeResult(core: Core, header: Header, parent: Header): Verdict | undefined {
  const { execHeight, execResult } = header;
  const lowest = Math.max(parent.execHeight, header.height - core.parameters.execLagMax);
  if (execHeight < lowest || execHeight >= header.height) {
    return { kind: "invalid", code: "PROPOSAL_EXEC_HEIGHT_OUT_OF_RANGE" };
  }
  const known = core.execution.results.get(execHeight) ?? vouchedResult(core, execHeight);
  if (known === undefined) return { kind: "hold" };
  if (known !== execResult) return { kind: "invalid", code: "PROPOSAL_EXEC_RESULT_WRONG" };
  return undefined;
}

/** The result that f+1 replicas signed, for a height whose own result is gone or not there yet. */
export function vouchedResult(core: Core, height: number): Hash | undefined {
  if (height > core.execution.height) return undefined;
  const counts = new Map<Hash, number>();
  for (const { result } of core.execution.votes.get(height)?.values() ?? []) {
    const count = (counts.get(result) ?? 0) + 1;
    if (count >= core.quorum.weak) return result;
    counts.set(result, count);
  }
  return undefined;
}

/** PROTOCOL §10. */
function judgeTime(core: Core, header: Header, parent: Header): Verdict {
  const { wallMs, nowMs } = core.clock;
  const { clockAheadMaxMs, clockBehindMs } = core.parameters.timing;
  if (header.timestampMs <= parent.timestampMs) {
    return { kind: "invalid", code: "PROPOSAL_TIMESTAMP_NOT_AFTER_PARENT" };
  }
  const aheadMs = header.timestampMs - wallMs - clockAheadMaxMs;
  if (aheadMs > 0) return { kind: "hold", untilMs: nowMs + aheadMs };
  return { kind: "vote", isStale: header.timestampMs < wallMs - clockBehindMs };
}

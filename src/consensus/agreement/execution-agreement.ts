/**
 * Results of execution (PROTOCOL §8): each replica signs its own, compares it with the others', and
 * stops itself rather than go on with a result that f+1 others contradict.
 */
import { err, ok, type Result } from "../../base/result.ts";
import { invariant } from "../../base/invariant.ts";
import { stepDown } from "../view-change/step-down.ts";
import type { Hash } from "../block.ts";
import { notice, sendNow, signed, type Core } from "../core.ts";
import { noteExecutionTime } from "../view-change/execution-wait.ts";
import type { ExecVote } from "../message.ts";
import type { Rejection } from "../rejection.ts";

export function onExecuted(core: Core, height: number, result: Hash): void {
  const { execution, parameters } = core;
  invariant(height <= core.final.link.height, "only final blocks are executed");
  execution.results.set(height, result);
  execution.results.delete(height - 2 * parameters.execLagMax);
  noteExecutionTime(core, height);
  execution.height = Math.max(execution.height, height);
  forgetOldVotes(core);
  const link = core.tree.finalLink(height);
  // After a restart results are reported again; those of forgotten heights need no new vote.
  if (core.mode === "active" && link !== undefined && height === execution.height) {
    const { epoch } = link.header;
    const { self: sender } = core;
    const vote = signed(core, {
      kind: "execVote",
      epoch,
      sender,
      height,
      blockHash: link.hash,
      result,
    });
    sendNow(core, "all", vote);
    noteExecVote(core, vote);
  }
  compareResults(core, height);
}

export function onExecVote(core: Core, message: ExecVote): Result<void, Rejection> {
  const { execution, parameters } = core;
  const lowest = execution.height - parameters.execLagMax;
  // A replica that catches up finalizes blocks far ahead of its execution: the window follows
  // execution.
  const highest = Math.min(
    core.final.link.height + 2 * parameters.window,
    execution.height + parameters.execLagMax + 2 * parameters.window,
  );
  if (message.height <= lowest || message.height > highest) {
    return err({ code: "MESSAGE_HEIGHT_OUTSIDE_WINDOW" });
  }
  if (!noteExecVote(core, message)) return err({ code: "MESSAGE_DUPLICATE" });
  compareResults(core, message.height);
  return ok(undefined);
}

function noteExecVote(core: Core, message: ExecVote): boolean {
  let bySender = core.execution.votes.get(message.height);
  if (bySender === undefined) {
    bySender = new Map();
    core.execution.votes.set(message.height, bySender);
  }
  if (bySender.has(message.sender)) return false;
  bySender.set(message.sender, message);
  return true;
}

function compareResults(core: Core, height: number): void {
  const own = core.execution.results.get(height);
  if (own === undefined) return;
  const byResult = new Map<Hash, ExecVote[]>();
  for (const vote of core.execution.votes.get(height)?.values() ?? []) {
    const votes = byResult.get(vote.result) ?? [];
    votes.push(vote);
    byResult.set(vote.result, votes);
  }
  for (const [result, votes] of byResult) {
    if (result !== own && votes.length >= core.quorum.weak) diverge(core, height, own, result);
    if (result === own && votes.length >= core.quorum.quorum) certify(core, votes);
  }
}

function diverge(core: Core, height: number, own: Hash, others: Hash): void {
  if (core.mode !== "active") return;
  core.mode = "diverged";
  notice(core, { code: "EXECUTION_DIVERGED", height, own, others });
  stepDown(core);
}

/**
 * Every so many blocks, a result with 2f+1 signatures becomes a checkpoint, so that other replicas
 * can trust a snapshot of that state.
 */
function certify(core: Core, votes: readonly ExecVote[]): void {
  const [first] = votes;
  const { checkpointInterval } = core.parameters;
  if (first === undefined || first.height % checkpointInterval !== 0) return;
  if (first.height <= core.execution.checkpointHeight) return;
  core.execution.checkpointHeight = first.height;
  const { epoch, height, blockHash, result } = first;
  const endorsements = votes
    .map(({ sender, signature }) => ({ sender, signature }))
    .sort((a, b) => a.sender - b.sender);
  core.effects.push({
    kind: "checkpoint",
    certificate: { kind: "exec", epoch, height, blockHash, result, votes: endorsements },
  });
}

function forgetOldVotes({ execution, parameters }: Core): void {
  for (const height of execution.votes.keys()) {
    if (height <= execution.height - parameters.execLagMax) execution.votes.delete(height);
  }
}

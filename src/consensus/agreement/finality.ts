/** When a block is final, and what follows from it (PROTOCOL §2, §5.5, §5.6). */
import type { BlockRef } from "../block.ts";
import { compareCerts, type FastCert, type FinalCert, type SlowCert } from "../certificate.ts";
import { append, notice, type Core } from "../core.ts";
import { enterEpoch } from "../recovery/epoch.ts";
import type { Commit } from "../message.ts";
import { isFast, slowFinal, tipAfterFinal } from "../safety/safety-rules.ts";

/** Applies the highest finality that can be proved and whose blocks are held. */
export function applyFinality(core: Core): boolean {
  const candidates = [fastCert(core), slowCert(core), core.awaitedFinal];
  let best: FinalCert | undefined;
  for (const candidate of candidates) {
    if (candidate === undefined || candidate.height <= core.final.link.height) continue;
    if (best !== undefined && candidate.height <= best.height) continue;
    if (core.tree.pathTo(candidate.blockHash) !== undefined) best = candidate;
  }
  if (best === undefined) return false;
  finalize(core, best);
  return true;
}

/** Applies a verified certificate whose blocks were just added. */
export function applyCertificate(core: Core, certificate: FinalCert): void {
  if (certificate.height <= core.final.link.height) return;
  if (core.tree.pathTo(certificate.blockHash) !== undefined) finalize(core, certificate);
}

/** Remembers a verified certificate; it is applied once its blocks are there. */
export function learnFinality(core: Core, certificate: FinalCert): void {
  if (certificate.height <= core.final.link.height) {
    checkAgainstFinal(core, certificate);
    return;
  }
  if (core.awaitedFinal === undefined || certificate.height > core.awaitedFinal.height) {
    core.awaitedFinal = certificate;
  }
}

/**
 * Two final blocks of one height prove more than f Byzantine replicas. The replica stops at once
 * rather than choose between them.
 */
function checkAgainstFinal(core: Core, certificate: FinalCert): void {
  const own = core.tree.finalLink(certificate.height);
  if (own !== undefined && own.hash !== certificate.blockHash) haltOnConflict(core, own.height);
}

export function haltOnConflict(core: Core, height: number): void {
  if (core.mode === "stopped") return;
  core.mode = "stopped";
  notice(core, { code: "FINALITY_CONFLICT", height });
}

function fastCert(core: Core): FastCert | undefined {
  for (const height of core.ballots.votes.heights()) {
    for (const [blockHash, count] of core.ballots.votes.counts(height)) {
      if (!isFast(count, core.quorum)) continue;
      const votes = core.ballots.votes.for(height, blockHash);
      return { kind: "fast", ...position(core, { height, hash: blockHash }), votes };
    }
  }
  return undefined;
}

function slowCert(core: Core): SlowCert | undefined {
  const commits = core.ballots.commits.all();
  if (commits.length < core.quorum.quorum) return undefined;
  const block = slowFinal(
    commits.map((commit) => ({ sender: commit.sender, block: refOf(commit) })),
    core.quorum,
    (a, b) => core.tree.isAncestor(a, b),
  );
  if (block === undefined || block.height <= core.final.link.height) return undefined;
  return buildSlowCert(core, block, commits);
}

/** Takes each sender's lowest commit at or above the block: the fewest links. */
function buildSlowCert(core: Core, block: BlockRef, commits: readonly Commit[]): SlowCert {
  const bySender = new Map<number, Commit>();
  for (const commit of commits) {
    if (!core.tree.isAncestor(block, refOf(commit))) continue;
    const other = bySender.get(commit.sender);
    if (other === undefined || commit.height < other.height) bySender.set(commit.sender, commit);
  }
  const chosen = [...bySender.values()]
    .sort((a, b) => a.height - b.height || a.sender - b.sender)
    .slice(0, core.quorum.quorum);
  const top = chosen.at(-1);
  const path = top === undefined ? undefined : core.tree.pathTo(top.blockHash);
  const links = (path ?? [])
    .map((held) => held.block.header)
    .filter((header) => header.height > block.height);
  const endorsements = chosen
    .map(({ sender, signature, height, blockHash }) => ({
      sender,
      signature,
      height,
      hash: blockHash,
    }))
    .sort((a, b) => a.sender - b.sender);
  return { kind: "slow", ...position(core, block), commits: endorsements, links };
}

function position(
  core: Core,
  block: BlockRef,
): {
  readonly epoch: number;
  readonly view: number;
  readonly height: number;
  readonly blockHash: BlockRef["hash"];
} {
  return { epoch: core.epoch, view: core.view, height: block.height, blockHash: block.hash };
}

function refOf(commit: Commit): BlockRef {
  return { height: commit.height, hash: commit.blockHash };
}

function finalize(core: Core, certificate: FinalCert): void {
  const path = core.tree.pathTo(certificate.blockHash) ?? [];
  const last = path.at(-1);
  if (last === undefined) return;
  for (const held of path) {
    // The log keeps the block until the store has it, so that replay can hand it out again.
    if (!held.isLogged) append(core, { kind: "block", block: held.block });
  }
  append(core, { kind: "final", certificate });
  const blocks = path.map((held) => held.block);
  core.effects.push({ kind: "finalize", blocks, certificate });
  core.execution.startedMs ??= core.clock.nowMs;
  for (const block of blocks) core.pending.settle(block.body.transactions.map(({ id }) => id));
  noteProgress(core, certificate, blocks.length);

  const { header, hash } = last.block;
  // Before the tree moves: it keeps only so many headers below the final one.
  moveTip(core, { height: header.height, hash });
  core.tree.finalize(path);
  core.final = { link: { height: header.height, hash, header }, certificate };
  if (core.awaitedFinal !== undefined && core.awaitedFinal.height <= header.height) {
    core.awaitedFinal = undefined;
  }
  if (compareCerts(certificate, core.highCert) > 0) core.highCert = certificate;
  forgetBelowFinal(core);
  if (last.block.body.rejoin !== undefined) enterEpoch(core, last.block.body.rejoin);
}

function moveTip(core: Core, final: BlockRef): void {
  const moved = tipAfterFinal(core.tip, final, (a, b) => core.tree.isAncestor(a, b));
  if (moved === "conflict") core.isTipConflicting = true;
  else core.tip = moved;
}

function forgetBelowFinal(core: Core): void {
  const { height } = core.final.link;
  core.ballots.dropThrough(height);
  core.ownVotes = core.ownVotes.filter((vote) => vote.height > height);
  for (const key of core.proposals.keys()) if (key <= height) core.proposals.delete(key);
  for (const key of core.timers.votedAtMs.keys()) {
    if (key <= height) core.timers.votedAtMs.delete(key);
  }
}

const LATENCY_SAMPLES_MAX = 64;

function noteProgress(core: Core, certificate: FinalCert, blockCount: number): void {
  const { timers, clock } = core;
  const votedAtMs = timers.votedAtMs.get(certificate.height);
  if (votedAtMs !== undefined) {
    timers.latenciesMs.push(clock.nowMs - votedAtMs);
    if (timers.latenciesMs.length > LATENCY_SAMPLES_MAX) timers.latenciesMs.shift();
    const sorted = timers.latenciesMs.toSorted((a, b) => a - b);
    timers.slowestCommitMs = sorted.at(-1) ?? 0;
    timers.usualCommitMs = sorted[sorted.length >> 1] ?? 0;
  }
  const quorumAtMs = timers.quorumAtMs.get(certificate.blockHash);
  if (certificate.kind === "fast" && quorumAtMs !== undefined) {
    const gapMs = clock.nowMs - quorumAtMs;
    timers.lastVoteGapMs += (gapMs - timers.lastVoteGapMs) / 8;
  }
  timers.quorumAtMs.clear();
  timers.fastStreak = certificate.kind === "fast" ? timers.fastStreak + blockCount : 0;
  timers.lastProgressMs = clock.nowMs;
  timers.failures = 0;
  timers.hasFinalizedInView = true;
  timers.behindSinceMs = undefined;
  core.views.failedLeaders.delete(core.view % core.quorum.replicaCount);
}

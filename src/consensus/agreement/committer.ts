/** Phase 2: a quorum of votes becomes a durable certificate and a Commit (PROTOCOL §5.3). */
import type { Hash } from "../block.ts";
import { compareCerts, type QuorumCert } from "../certificate.ts";
import { append, sendAfterSync, signed, type Core } from "../core.ts";
import { isQuorum, mayCommit } from "../safety/safety-rules.ts";
import { logBlocksTo } from "./voter.ts";

const FAST_STREAK_FOR_GRACE = 16;

/**
 * Commits the highest certified block that is held and not yet final; one Commit speaks for all its
 * ancestors. While the network has been deciding in one phase, it waits a moment for the last vote,
 * so that a healthy network neither writes certificates nor sends Commits.
 */
export function castCommits(core: Core): boolean {
  const { timers, clock } = core;
  // Checked first: a replica that does not commit has no reason to wait for the last vote.
  timers.commitDueMs = undefined;
  if (core.mode !== "active") return false;
  const certificate = highestQuorumCert(core);
  if (certificate === undefined || !mayCommit(core.view, certificate)) return false;
  if (!timers.quorumAtMs.has(certificate.blockHash)) {
    timers.quorumAtMs.set(certificate.blockHash, clock.nowMs);
  }
  const graceMs = commitGraceMs(core);
  const since = timers.quorumAtMs.get(certificate.blockHash) ?? clock.nowMs;
  if (clock.nowMs < since + graceMs) {
    timers.commitDueMs = since + graceMs;
    return false;
  }
  commit(core, certificate);
  return true;
}

function commitGraceMs(core: Core): number {
  const { timers, parameters } = core;
  if (timers.fastStreak < FAST_STREAK_FOR_GRACE) return 0;
  const { commitGraceMinMs, commitGraceMaxMs } = parameters.timing;
  return Math.min(commitGraceMaxMs, Math.max(commitGraceMinMs, 2 * timers.lastVoteGapMs));
}

function highestQuorumCert(core: Core): QuorumCert | undefined {
  const { votes } = core.ballots;
  for (const height of votes.heights()) {
    for (const [blockHash, count] of votes.counts(height)) {
      if (!isQuorum(count, core.quorum) || !isNewlyCertified(core, height, blockHash)) continue;
      const endorsements = votes
        .for(height, blockHash)
        .slice(0, core.quorum.quorum)
        .map(({ sender, signature }) => ({ sender, signature }));
      const { epoch, view } = core;
      return { kind: "quorum", epoch, view, height, blockHash, votes: endorsements };
    }
  }
  return undefined;
}

/**
 * The block and all between it and the final one are held, and the certificate ranks above every
 * one that we know: a Commit below the highest certificate would not raise it, so the rule would
 * apply for ever, and binds the replica to nothing that the highest one does not (PROTOCOL §5.3).
 */
function isNewlyCertified(core: Core, height: number, blockHash: Hash): boolean {
  if (height <= core.final.link.height || core.tree.pathTo(blockHash) === undefined) return false;
  const { epoch, view } = core;
  return compareCerts({ epoch, view, height }, core.highCert) > 0;
}

function commit(core: Core, certificate: QuorumCert): void {
  logBlocksTo(core, certificate.blockHash);
  append(core, { kind: "certificate", certificate });
  core.highCert = certificate;
  sendAfterSync(core, "all", ownCommit(core, certificate));
}

export function ownCommit(
  core: Core,
  { view, height, blockHash }: QuorumCert,
): ReturnType<typeof signed<"commit">> {
  const { epoch, self: sender } = core;
  return signed(core, { kind: "commit", epoch, sender, view, height, blockHash });
}

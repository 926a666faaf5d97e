/** The log, read back (PROTOCOL §7): replay brings a core to where its last record left it. */
import { invariant, unreachable } from "../../base/invariant.ts";
import { chainLinkOf, type Block, type Hash, type Rejoin } from "../block.ts";
import { compareCerts, type FinalCert } from "../certificate.ts";
import { finalPoint, type Core, type Final } from "../core.ts";
import { enterEpoch, resetForEpoch } from "./epoch.ts";
import type { FinalPoint, LogRecord, Snapshot } from "../log-record.ts";
import { tipAfterFinal } from "../safety/safety-rules.ts";

/** `nonce` names this start: it is the one that an observer asks to join by from now on. */
export function replay(core: Core, records: readonly LogRecord[], nonce: Hash): void {
  let boundary: Rejoin | undefined;
  for (const record of records) {
    switch (record.kind) {
      case "boot":
        core.booted = true;
        break;
      case "rejoin":
        core.rejoinNonce = record.nonce;
        break;
      case "epoch":
        replayEpoch(core, record);
        boundary = undefined;
        break;
      case "view":
        core.view = record.view;
        core.isTipConflicting = false;
        core.ownVotes = [];
        break;
      case "block":
        replayBlock(core, record.block);
        break;
      case "vote":
        core.votedView = record.view;
        core.votedTip = { height: record.height, hash: record.blockHash };
        core.tip = core.votedTip;
        core.ownVotes.push(core.votedTip);
        break;
      case "certificate":
        if (compareCerts(record.certificate, core.highCert) > 0) core.highCert = record.certificate;
        break;
      case "final":
        boundary = replayFinal(core, record.certificate) ?? boundary;
        break;
      case "snapshot":
        replaySnapshot(core, record);
        break;
      default:
        unreachable(record);
    }
  }
  if (core.rejoinNonce !== undefined) {
    core.mode = "observer";
    // The log may be a copy of one whose process joined by this nonce and signed since. A nonce of
    // an earlier start therefore lets no process in (PROTOCOL §9.3).
    core.rejoinNonce = nonce;
  }
  // The log was cut between the end of one epoch and the start of the next.
  if (boundary !== undefined) enterEpoch(core, boundary);
}

function replayBlock(core: Core, block: Block): void {
  if (block.header.height <= core.final.link.height) return;
  core.tree.addCertified(block);
  const held = core.tree.get(block.hash);
  if (held !== undefined) held.isLogged = true;
}

/** Final blocks are handed out again: the store may have lost the last of them. */
function replayFinal(core: Core, certificate: FinalCert): Rejoin | undefined {
  if (certificate.height <= core.final.link.height) return undefined;
  const path = core.tree.pathTo(certificate.blockHash);
  invariant(path !== undefined, "the log holds every block that it calls final");
  const blocks = path.map(({ block }) => block);
  core.effects.push({ kind: "finalize", blocks, certificate });
  core.tree.finalize(path);
  const final = { height: certificate.height, hash: certificate.blockHash };
  if (core.votedView === core.view) {
    const moved = tipAfterFinal(core.tip, final, (a, b) => core.tree.isAncestor(a, b));
    if (moved === "conflict") core.isTipConflicting = true;
    else core.tip = moved;
  }
  const last = blocks.at(-1);
  invariant(last !== undefined, "a final record finalizes something");
  core.final = { link: chainLinkOf(last.header, core.ports.hashHeader), certificate };
  if (compareCerts(certificate, core.highCert) > 0) core.highCert = certificate;
  core.ownVotes = core.ownVotes.filter(({ height }) => height > certificate.height);
  const { rejoin } = last.body;
  if (rejoin !== undefined) core.rejoinedAtMs[rejoin.member] = last.header.timestampMs;
  return rejoin;
}

function replayEpoch(core: Core, record: Extract<LogRecord, { readonly kind: "epoch" }>): void {
  resetForEpoch(core, record.epoch);
  if (record.isJoining) {
    core.rejoinNonce = undefined;
    core.booted = true;
  }
}

function replaySnapshot(core: Core, snapshot: Snapshot): void {
  core.booted = snapshot.booted;
  core.rejoinNonce = snapshot.rejoinNonce;
  core.final = finalOf(core, snapshot.final);
  core.tree.restart(core.final.link);
  core.boundary = finalOf(core, snapshot.boundary);
  core.epoch = snapshot.epoch;
  core.view = snapshot.view;
  core.votedView = snapshot.votedView;
  core.votedTip = snapshot.votedTip;
  core.isTipConflicting = snapshot.isTipConflicting;
  const isVotedAboveFinal = (snapshot.votedTip?.height ?? -1) > core.final.link.height;
  core.tip = isVotedAboveFinal && snapshot.votedTip ? snapshot.votedTip : core.final.link;
  core.ownVotes = [...snapshot.votes];
  core.highCert = snapshot.highCert;
  core.rejoinedAtMs = [...snapshot.rejoinedAtMs];
  for (const block of snapshot.blocks) replayBlock(core, block);
}

function finalOf(core: Core, { header, certificate }: FinalPoint): Final {
  return { link: chainLinkOf(header, core.ports.hashHeader), certificate };
}

/**
 * All that safety needs of this moment. Older records may go once it is durable, so from here on
 * only the blocks inside it count as written down.
 */
export function takeSnapshot(core: Core): Snapshot {
  const blocks = blocksToKeep(core);
  core.tree.markLogged(new Set(blocks.map(({ hash }) => hash)));
  return {
    kind: "snapshot",
    epoch: core.epoch,
    view: core.view,
    booted: core.booted,
    isTipConflicting: core.isTipConflicting,
    rejoinNonce: core.rejoinNonce,
    final: finalPoint(core.final),
    boundary: finalPoint(core.boundary),
    votedView: core.votedView,
    votedTip: core.votedTip,
    votes: core.ownVotes,
    highCert: core.highCert,
    rejoinedAtMs: [...core.rejoinedAtMs],
    blocks,
  };
}

function blocksToKeep(core: Core): readonly Block[] {
  const kept = new Map<Hash, Block>();
  const tips = [core.tip.hash, core.highCert.blockHash, core.votedTip?.hash];
  for (const hash of tips) {
    const path = hash === undefined ? undefined : core.tree.pathTo(hash);
    for (const { block, isLogged } of path ?? []) if (isLogged) kept.set(block.hash, block);
  }
  return [...kept.values()].sort((a, b) => a.header.height - b.header.height);
}

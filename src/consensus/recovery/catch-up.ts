/**
 * Catch-up (PROTOCOL §6.4, §9.2): fetches bodies that votes or a NewView refer to, and final
 * blocks. Level-triggered: as long as something is missing it is asked for again, of another peer.
 */
import { err, ok, type Result } from "../../base/result.ts";
import type { Hash, ReplicaIndex } from "../block.ts";
import { notice, sendNow, type Core } from "../core.ts";
import { applyCertificate } from "../agreement/finality.ts";
import type { BlockRequest, BlockResponse, BodyRequest, BodyResponse, Status } from "../message.ts";
import type { Rejection } from "../rejection.ts";
import { holdBlock } from "../agreement/voter.ts";

export const BLOCKS_PER_REQUEST = 32;
const BODIES_PER_REQUEST = 16;
/** A Status may cross with decisions in flight, so only a lag that lasts counts. */
const LAG_PATIENCE_MS = 100;
const RETRY_MS = 50;
const SERVE_EVERY_MS = 10;

export function onStatus(core: Core, from: ReplicaIndex, message: Status): void {
  const peer = core.peers[from];
  if (peer === undefined) return;
  peer.epoch = message.epoch;
  peer.finalHeight = message.finalHeight;
  peer.execHeight = message.execHeight;
  if (message.finalHeight < core.final.link.height) offerFinality(core, from);
}

/** Asks for what is missing, at most every RETRY_MS. */
export function fetchMissing(core: Core): boolean {
  const { timers, clock } = core;
  noteLag(core);
  if (clock.nowMs < timers.nextFetchMs) return false;
  // Both are requested: a body that votes refer to may be final by now, and then no peer holds it
  // as unfinalized.
  const isAskingBodies = askForBodies(core, wantedBodies(core));
  const isAskingBlocks = askForBlocks(core);
  const dueMs = nextFetchMs(core);
  const isDue = dueMs !== undefined && dueMs <= clock.nowMs;
  if (isAskingBodies || isAskingBlocks || isDue) timers.nextFetchMs = clock.nowMs + RETRY_MS;
  return false;
}

export function nextFetchMs(core: Core): number | undefined {
  const { timers } = core;
  if (wantedBodies(core).size > 0 || core.awaitedFinal !== undefined) return timers.nextFetchMs;
  if (timers.behindSinceMs === undefined) return undefined;
  return Math.max(timers.nextFetchMs, timers.behindSinceMs + LAG_PATIENCE_MS);
}

/** Hashes of bodies that we need, with the replicas that must have them. */
function wantedBodies(core: Core): ReadonlyMap<Hash, readonly ReplicaIndex[]> {
  const wanted = new Map<Hash, readonly ReplicaIndex[]>();
  const { votes } = core.ballots;
  for (const height of votes.heights()) {
    for (const [hash, count] of votes.counts(height)) {
      if (count < core.quorum.weak || core.tree.get(hash) !== undefined) continue;
      if (height <= core.final.link.height) continue;
      wanted.set(
        hash,
        votes.for(height, hash).map(({ sender }) => sender),
      );
    }
  }
  const entry = core.isAccepted ? undefined : core.views.newViews.get(core.view);
  if (entry !== undefined) {
    const reporters = entry.message.viewChanges.map(({ sender }) => sender);
    for (const { height, hash } of entry.choice.path) {
      if (height > core.final.link.height && core.tree.get(hash) === undefined) {
        wanted.set(hash, reporters);
      }
    }
  }
  return wanted;
}

function askForBodies(core: Core, wanted: ReadonlyMap<Hash, readonly ReplicaIndex[]>): boolean {
  if (wanted.size === 0) return false;
  const holders = new Set([...wanted.values()].flat());
  holders.delete(core.self);
  const hashes = [...wanted.keys()].slice(0, BODIES_PER_REQUEST);
  for (const to of holders) sendNow(core, to, { kind: "bodyRequest", hashes });
  return true;
}

function askForBlocks(core: Core): boolean {
  const target = catchUpTarget(core);
  if (target === undefined) return false;
  const fromHeight = core.final.link.height + 1;
  const toHeight = Math.min(target, core.final.link.height + BLOCKS_PER_REQUEST);
  const ahead = core.peers
    .map((peer, index) => ({ peer, index }))
    .filter(({ peer, index }) => index !== core.self && peer.isUp)
    .filter(({ peer }) => peer.finalHeight >= fromHeight || core.awaitedFinal !== undefined);
  // Two peers at a time, and other ones on each retry: a peer that is Byzantine or silent costs one
  // retry.
  const turn = Math.floor(core.clock.nowMs / RETRY_MS);
  for (let count = 0; count < Math.min(2, ahead.length); count++) {
    const chosen = ahead[(turn + count) % ahead.length];
    if (chosen !== undefined) {
      sendNow(core, chosen.index, { kind: "blockRequest", fromHeight, toHeight });
    }
  }
  return ahead.length > 0;
}

/** The height to catch up to, once the lag has lasted. */
function catchUpTarget(core: Core): number | undefined {
  const { timers, clock, awaitedFinal } = core;
  const isLagging =
    timers.behindSinceMs !== undefined && clock.nowMs >= timers.behindSinceMs + LAG_PATIENCE_MS;
  const highest = isLagging ? knownFinalHeight(core) : (awaitedFinal?.height ?? 0);
  return highest > core.final.link.height ? highest : undefined;
}

/**
 * The height that is final for sure: by a verified certificate, or because f+1 peers report it or
 * more, of which one is correct. One Status is a claim that anyone can make; a peer that is alone
 * ahead proves it by the certificate with which it answers our own Status (PROTOCOL §6.5).
 */
function knownFinalHeight({ peers, self, quorum, awaitedFinal }: Core): number {
  const reported = peers
    .filter((_, index) => index !== self)
    .map(({ finalHeight }) => finalHeight)
    .sort((a, b) => b - a);
  return Math.max(reported[quorum.weak - 1] ?? 0, awaitedFinal?.height ?? 0);
}

function noteLag(core: Core): void {
  const { timers, clock } = core;
  const [from, to] = [core.final.link.height, knownFinalHeight(core)];
  if (to <= from) {
    timers.behindSinceMs = undefined;
  } else if (timers.behindSinceMs === undefined) {
    timers.behindSinceMs = clock.nowMs;
    if (to > from + 2 * core.parameters.window) {
      timers.behindSinceMs = clock.nowMs - LAG_PATIENCE_MS;
      notice(core, { code: "CATCHING_UP", from, to });
    }
  }
}

export function onBodyRequest(core: Core, from: ReplicaIndex, message: BodyRequest): void {
  const blocks = message.hashes
    .slice(0, BODIES_PER_REQUEST)
    .flatMap((hash) => core.tree.get(hash)?.block ?? []);
  // One response each: a body may be as large as a message may be.
  for (const block of blocks) sendNow(core, from, { kind: "bodyResponse", blocks: [block] });
  if (blocks.length < message.hashes.length) offerFinality(core, from);
}

export function onBodyResponse(
  core: Core,
  message: BodyResponse,
  transactionsValid: boolean,
): Result<void, Rejection> {
  const wanted = wantedBodies(core);
  for (const block of message.blocks) {
    if (!wanted.has(block.hash)) return err({ code: "MESSAGE_UNWANTED" });
    if (core.ports.hashHeader(block.header) !== block.hash) {
      return err({ code: "PROPOSAL_HASH_MISMATCH" });
    }
    if (core.ports.hashBody(block.body) !== block.header.payloadHash) {
      // The answer was forged; the real body has the right hash and may still arrive.
      return err({ code: "PROPOSAL_HASH_MISMATCH" });
    }
    holdBlock(core, block, transactionsValid);
  }
  core.timers.nextFetchMs = core.clock.nowMs;
  return ok(undefined);
}

export function onBlockRequest(core: Core, from: ReplicaIndex, message: BlockRequest): void {
  const peer = core.peers[from];
  if (peer === undefined || core.clock.nowMs < peer.nextServeMs) return;
  const toHeight = Math.min(
    message.toHeight,
    message.fromHeight + BLOCKS_PER_REQUEST - 1,
    core.final.link.height,
  );
  if (message.fromHeight < 1 || toHeight < message.fromHeight) return;
  peer.nextServeMs = core.clock.nowMs + SERVE_EVERY_MS;
  core.effects.push({ kind: "serveBlocks", to: from, fromHeight: message.fromHeight, toHeight });
}

/** Final blocks that link to ours, with the certificate of the last. */
export function onBlockResponse(core: Core, message: BlockResponse): Result<void, Rejection> {
  const { certificate } = message;
  const blocks = message.blocks.filter(({ header }) => header.height > core.final.link.height);
  const last = blocks.at(-1);
  if (last === undefined) return err({ code: "MESSAGE_DUPLICATE" });
  if (last.hash !== certificate.blockHash || last.header.height !== certificate.height) {
    return err({ code: "BLOCKS_NOT_LINKED" });
  }
  let parent = core.final.link.hash;
  for (const block of blocks) {
    const isBound =
      block.header.parent === parent &&
      core.ports.hashHeader(block.header) === block.hash &&
      core.ports.hashBody(block.body) === block.header.payloadHash;
    const isEarlyBoundary = block.body.rejoin !== undefined && block !== last;
    if (!isBound || isEarlyBoundary) return err({ code: "BLOCKS_NOT_LINKED" });
    parent = block.hash;
  }
  // A certificate proves the chain below it, so the blocks need no further check.
  if (blocks.length > BLOCKS_PER_REQUEST + 2 * core.parameters.window) {
    return err({ code: "BLOCKS_NOT_LINKED" });
  }
  for (const block of blocks) core.tree.addCertified(block);
  applyCertificate(core, certificate);
  core.timers.nextFetchMs = core.clock.nowMs;
  return ok(undefined);
}

/** Sends the certificate of our final block to a peer that seems not to know it. */
export function offerFinality(core: Core, to: ReplicaIndex): void {
  const peer = core.peers[to];
  if (peer === undefined || core.clock.nowMs < peer.nextFinalityMs) return;
  if (core.final.certificate.kind === "genesis") return;
  peer.nextFinalityMs = core.clock.nowMs + RETRY_MS;
  sendNow(core, to, { kind: "finality", certificate: core.final.certificate });
}

/** f+1 votes of a view that we are in without its NewView: some peer has it (PROTOCOL §6.5). */
export function askForNewView(core: Core): void {
  if (core.isAccepted || core.views.newViews.has(core.view)) return;
  const voters = new Set(core.ballots.votes.all().map(({ sender }) => sender));
  voters.delete(core.self);
  if (voters.size < core.quorum.weak) return;
  for (const to of voters) {
    sendNow(core, to, { kind: "newViewRequest", epoch: core.epoch, view: core.view });
  }
}

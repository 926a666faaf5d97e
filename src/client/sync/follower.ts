/**
 * Follows the chain: blocks that are proved final go to the block store, are executed in order, and
 * are published once f+1 replicas have signed the same result (SPEC E12) or final headers prove it
 * (result-proofs.ts). Replicas that lie, stall or lag are left for others.
 *
 * One order must hold for restarts: a height is in the block store for good, with its result,
 * before the state that it led to is written, and the state is written only up to a published
 * height. So all that is on the disk has been matched, and what is missing is executed again.
 *
 * A height is shown to nobody before it is durable that it was (`shown`): replicas that crashed with
 * this node may say for a moment that less is final, and reads must not go back in time.
 */
import type { Logger } from "../../base/logger.ts";
import { CodedError } from "../../base/coded-error.ts";
import { invariant } from "../../base/invariant.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { Block, Hash, ReplicaIndex, Transaction } from "../../consensus/block.ts";
import type { FinalCert } from "../../consensus/certificate.ts";
import type { ExecVote } from "../../consensus/message.ts";
import type { Quorum } from "../../consensus/quorum.ts";
import type { BlockStore } from "../../storage/block-store.ts";
import type { HeightMark } from "../../storage/height-mark.ts";
import type { PeerMessageAuthenticator } from "../../wire/authenticate.ts";
import {
  decodeBlockBytes,
  encodeBlockBytes,
  encodeFinalCert,
  readBlockHead,
} from "../../wire/block-bytes.ts";
import type { ClientRequest, ReplicaReport } from "../../wire/client-codec.ts";
import { encodeVotes } from "./block-certificates.ts";
import { encodeStoredBlockRecord } from "../reads/block-record.ts";
import { BlockProver } from "./block-prover.ts";
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import type { ChainExecutor } from "./chain-executor.ts";
import type { Published } from "../reads/chain-reader.ts";
import type { ClientTiming } from "../client-options.ts";
import { FollowedReplicas, type FollowedStatus } from "./followed-replicas.ts";
import { ResultProofs } from "./result-proofs.ts";

export type FollowerOptions = {
  readonly quorum: Quorum;
  readonly timing: ClientTiming;
  /** Of block 0 of the consensus chain. */
  readonly genesisHash: Hash;
};

export type FollowerDependencies = {
  readonly executor: ChainExecutor;
  readonly blocks: BlockStore;
  readonly shown: HeightMark;
  readonly authenticator: PeerMessageAuthenticator;
  readonly logger: Logger;
  readonly ask: (replica: ReplicaIndex, request: ClientRequest) => void;
  /** Stops reading from a replica, or goes on. */
  readonly hold: (replica: ReplicaIndex, isHeld: boolean) => void;
  readonly known: (transaction: Transaction) => RecoveredTransaction | undefined;
  /** Whether transactions wait for a block. */
  readonly isWaiting: () => boolean;
  readonly onPublished: (executed: ExecutedHeight) => void;
  /** Once: it follows no more. */
  readonly onFailed: (error: unknown) => void;
};

/** Executed and not yet matched, at most: what a wrong result can cost. */
const AHEAD_MAX = 32;
/** A replica that sent blocks so far above the executed one is not read from for a while. */
const BACKLOG_MAX = 256;
const BACKLOG_LOW = 128;
/** Decoded blocks that wait to be executed; further ones are read from the store. */
const DECODED_MAX = 16;
const NARROW_AFTER_MS = 10_000;
const DISK_RETRY_MS = 1_000;
/** No chain is so long: the stream rests until it is moved. */
const NEVER_HEIGHT = Number.MAX_SAFE_INTEGER;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #dependencies: FollowerDependencies;
  readonly #prover: BlockProver;
  readonly #proofs: ResultProofs;
  readonly #replicas: FollowedReplicas;
  /** By height, proved and not yet executed. */
  readonly #decoded = new Map<number, Block>();
  /** Proved while the disk was full. */
  #unstored: { readonly block: Block; readonly certificate: FinalCert | undefined }[] = [];
  /** Executed and not yet published, the lowest first. */
  readonly #executed: ExecutedHeight[] = [];
  readonly #held = new Set<ReplicaIndex>();
  /** What an earlier life of this node has shown. */
  readonly #shownBefore: number;
  #published: Published;
  #progressMs = performance.now();
  #widenedMs = performance.now();
  #flushDueMs: number | undefined;
  #diskRetryMs: number | undefined;
  #running: Promise<void> | undefined;
  #isRunning = false;
  #isWoken = false;
  #isStopped = false;

  constructor(options: FollowerOptions, dependencies: FollowerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { executor, blocks, authenticator, shown } = dependencies;
    const { quorum, timing } = options;
    this.#shownBefore = shown.durableHeight;
    shown.handlers = {
      onDurable: () => this.#wake(),
      onFailed: (error) => this.#fail(error),
    };
    this.#published = { height: executor.height, number: executor.head.header.number };
    this.#prover = new BlockProver(lastProved(blocks, options.genesisHash), { authenticator });
    invariant(this.#prover.height >= executor.height, "the store has all that was executed");
    this.#proofs = new ResultProofs(
      { needed: quorum.weak, patienceMs: timing.stallMs },
      {
        blocks,
        verify: (vote) => authenticator.authenticate(vote, vote.sender).ok,
        onLie: (replica, reason) => this.#distrust(replica, reason),
      },
      executor.height,
    );
    this.#replicas = new FollowedReplicas(
      { quorum, distrustMs: timing.distrustMs },
      {
        follow: (replica) => this.#follow(replica),
        unfollow: (replica) => this.#unfollow(replica),
      },
    );
  }

  get published(): Published {
    return this.#published;
  }

  /** The last height that is known to be final here. */
  get provedHeight(): number {
    return this.#prover.height;
  }

  /** The last height that is known to be final anywhere: here, by f+1 replicas, or once shown. */
  get finalHeight(): number {
    const reported = this.#replicas.reportedHeight() ?? 0;
    return Math.max(reported, this.#prover.height, this.#shownBefore);
  }

  get isDiskFull(): boolean {
    return this.#diskRetryMs !== undefined;
  }

  get replicasUp(): readonly ReplicaIndex[] {
    return this.#replicas.up;
  }

  /** Enough replicas are up to order something, and this node is where they are. */
  get isSynced(): boolean {
    const { quorum } = this.#options.quorum;
    if (this.#replicas.reportCount < quorum || this.#isStopped) return false;
    const reported = this.#replicas.reportedHeight() ?? 0;
    return this.#published.height >= Math.max(reported, this.#shownBefore);
  }

  status(): FollowedStatus[] {
    return this.#replicas.status(performance.now());
  }

  start(): void {
    this.#dependencies.shown.raise(this.#prover.height);
    this.#wake();
  }

  onUp(replica: ReplicaIndex): void {
    this.#replicas.onUp(replica, performance.now());
  }

  onDown(replica: ReplicaIndex): void {
    // A link stays held over a break: the next connection would never be read from.
    this.#setHeld(replica, false);
    this.#prover.forget(replica);
    this.#replicas.onDown(replica, performance.now());
  }

  onReport(replica: ReplicaIndex, report: ReplicaReport): void {
    this.#replicas.onReport(replica, report);
  }

  /** Whether a block of this height adds nothing, so that it need not be decoded. */
  isProved(height: number): boolean {
    return height <= this.#prover.height;
  }

  /** A block that need not be looked at came from a replica. */
  onKnownBlock(replica: ReplicaIndex, height: number): void {
    this.#replicas.onBlock(replica, height);
    this.#holdIfAhead(replica);
  }

  onBlock(replica: ReplicaIndex, block: Block, certificate: FinalCert | undefined): void {
    if (this.#isStopped || !this.#replicas.isFollowed(replica)) return;
    const outcome = this.#prover.add(block, certificate, replica);
    switch (outcome.kind) {
      case "kept":
        break;
      case "gap":
        // Sent before the stream was moved; the stall timer asks again if it was not.
        return;
      case "lie":
        this.#distrust(replica, outcome.reason);
        return;
      case "proved": {
        const { blocks, certificate: proof } = outcome.proved;
        for (const one of blocks) {
          const own = one.hash === proof.blockHash ? proof : undefined;
          this.#unstored.push({ block: one, certificate: own });
        }
        this.#wake();
      }
    }
    this.onKnownBlock(replica, block.header.height);
  }

  onVote(replica: ReplicaIndex, vote: ExecVote): void {
    if (this.#isStopped || !this.#replicas.isFollowed(replica)) return;
    this.#replicas.onVote(replica, vote.height);
    this.#proofs.addVote(vote, replica);
    // Most votes come when their height is executed: then this publishes it.
    if (vote.height === this.#published.height + 1) this.#wake();
  }

  /** Called often: looks whether something stands still that should move. */
  tick(): void {
    const nowMs = performance.now();
    const { stallMs } = this.#options.timing;
    const isBehind = this.#published.height < this.finalHeight;
    this.#wake();
    this.#replicas.fill(nowMs);
    if (!isBehind && !this.#dependencies.isWaiting()) {
      this.#progressMs = nowMs;
      if (nowMs - this.#widenedMs < NARROW_AFTER_MS) return;
      this.#widenedMs = nowMs;
      this.#replicas.narrow();
    } else if (nowMs - this.#progressMs >= stallMs) {
      this.#progressMs = nowMs;
      this.#widenedMs = nowMs;
      this.#replicas.widen(nowMs);
    }
  }

  /** Ends the following; what can be written is written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    const { executor, blocks } = this.#dependencies;
    if (this.#executed.length > 0 || executor.height === executor.writtenHeight) return;
    try {
      await blocks.flush();
      executor.flush();
    } catch (error) {
      // The blocks are executed again at the next start.
      if (!isDiskFull(error)) throw error;
    }
  }

  #wake(): void {
    this.#isWoken = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** One piece of work after the other; between two, others get their turn. */
  async #run(): Promise<void> {
    try {
      while (this.#isWoken && !this.#isStopped) {
        this.#isWoken = false;
        if (!(await this.#step())) continue;
        this.#isWoken = true;
        await nextTurn();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Whether there may be more to do. */
  async #step(): Promise<boolean> {
    if (this.#diskRetryMs !== undefined && performance.now() < this.#diskRetryMs) return false;
    try {
      this.#store();
      const hasPublished = this.#publish();
      const hasFlushed = await this.#flushIfDue();
      const hasExecuted = this.#execute() && this.#publish();
      if (this.#diskRetryMs !== undefined) {
        this.#diskRetryMs = undefined;
        this.#dependencies.logger.info("the disk has room again");
      }
      this.#release();
      return hasPublished || hasFlushed || hasExecuted || this.#canExecute();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (this.#diskRetryMs === undefined) this.#dependencies.logger.error("the disk is full");
      this.#diskRetryMs = performance.now() + DISK_RETRY_MS;
      return false;
    }
  }

  #store(): void {
    const { blocks, shown } = this.#dependencies;
    let stored = 0;
    try {
      for (const { block, certificate } of this.#unstored) {
        const bytes = { block: encodeBlockBytes(block) };
        const proof =
          certificate === undefined ? {} : { certificate: encodeFinalCert(certificate) };
        blocks.append(block.header.height, { ...bytes, ...proof });
        if (this.#decoded.size < DECODED_MAX) this.#decoded.set(block.header.height, block);
        stored++;
      }
    } finally {
      this.#unstored = this.#unstored.slice(stored);
    }
    // Beside the execution, so that nobody waits for it as a rule.
    shown.raise(blocks.latestHeight ?? 0);
  }

  #canExecute(): boolean {
    const { executor, blocks } = this.#dependencies;
    if (executor.height >= (blocks.latestHeight ?? 0)) return false;
    // What waits can be proved only there: neither the limit nor a due flush may be in the way.
    if (this.#executed.length > 0 && executor.height < this.#proofs.namedHeight) return true;
    const isAhead = executor.height - this.#published.height >= AHEAD_MAX;
    const isFlushing = this.#flushDueMs !== undefined && performance.now() >= this.#flushDueMs;
    return !isAhead && !isFlushing;
  }

  #execute(): boolean {
    if (!this.#canExecute()) return false;
    const { executor, known } = this.#dependencies;
    const height = executor.height + 1;
    const executed = executor.execute(this.#blockAt(height), known);
    this.#decoded.delete(height);
    this.#executed.push(executed);
    const { stateFlushMs } = this.#options.timing;
    this.#flushDueMs ??= performance.now() + stateFlushMs;
    if (executor.isFlushUrgent) this.#flushDueMs = 0;
    return true;
  }

  /** All that is matched and may be shown. */
  #publish(): boolean {
    const { shown } = this.#dependencies;
    let hasPublished = false;
    for (;;) {
      const [next] = this.#executed;
      if (next === undefined || next.height > shown.durableHeight) return hasPublished;
      const match = this.#proofs.match(this.#executed);
      if (match === undefined) return hasPublished;
      this.#keep(next, match.votes);
      this.#executed.shift();
      this.#proofs.onPublished(next, match);
      this.#published = { height: next.height, number: next.number };
      this.#progressMs = performance.now();
      hasPublished = true;
      this.#dependencies.onPublished(next);
    }
  }

  #keep({ height, result, block }: ExecutedHeight, votes: readonly ExecVote[]): void {
    const { blocks } = this.#dependencies;
    const proof = votes.length === 0 ? {} : { votes: encodeVotes(votes) };
    if (block === undefined) {
      blocks.attach(height, { result, ...proof });
      return;
    }
    const senders = block.transactions.map(({ sender }) => sender);
    const record = encodeStoredBlockRecord(block.block, senders, block.receipts);
    const transactionHashes = block.transactions.map(({ hash }) => hash);
    blocks.attach(
      height,
      { result, ...proof, ...record },
      { blockHash: block.hash, transactionHashes },
    );
  }

  async #flushIfDue(): Promise<boolean> {
    if (this.#flushDueMs === undefined || performance.now() < this.#flushDueMs) return false;
    if (this.#executed.length > 0) return false;
    const { executor, blocks } = this.#dependencies;
    await blocks.flush();
    executor.flush();
    this.#flushDueMs = undefined;
    return true;
  }

  #blockAt(height: number): Block {
    const decoded = this.#decoded.get(height);
    if (decoded !== undefined) return decoded;
    const bytes = this.#dependencies.blocks.get(height, "block");
    const block = bytes === undefined ? undefined : decodeBlockBytes(Uint8Array.from(bytes));
    if (block?.ok !== true) throw new CodedError("BLOCK_STORE_DAMAGED", { height });
    return block.value;
  }

  #follow(replica: ReplicaIndex): void {
    this.#prover.forget(replica);
    const fromHeight = this.#published.height + 1;
    this.#dependencies.ask(replica, { kind: "follow", fromHeight });
  }

  #unfollow(replica: ReplicaIndex): void {
    this.#prover.forget(replica);
    this.#dependencies.ask(replica, { kind: "follow", fromHeight: NEVER_HEIGHT });
    this.#setHeld(replica, false);
  }

  #distrust(replica: ReplicaIndex, reason: string): void {
    this.#dependencies.logger.debug("a replica said what is not so", { replica, reason });
    this.#replicas.distrust(replica, performance.now());
  }

  #holdIfAhead(replica: ReplicaIndex): void {
    const { executor } = this.#dependencies;
    const isAhead = this.#replicas.blockHeightOf(replica) > executor.height + BACKLOG_MAX;
    if (isAhead) this.#setHeld(replica, true);
  }

  #release(): void {
    const { executor } = this.#dependencies;
    for (const replica of this.#held) {
      const isAhead = this.#replicas.blockHeightOf(replica) > executor.height + BACKLOG_LOW;
      if (!isAhead) this.#setHeld(replica, false);
    }
  }

  #setHeld(replica: ReplicaIndex, isHeld: boolean): void {
    if (this.#held.has(replica) === isHeld) return;
    if (isHeld) this.#held.add(replica);
    else this.#held.delete(replica);
    this.#dependencies.hold(replica, isHeld);
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#dependencies.onFailed(error);
  }
}

function lastProved(
  blocks: BlockStore,
  genesisHash: Hash,
): { readonly height: number; readonly hash: Hash } {
  const height = blocks.latestHeight;
  const bytes = height === undefined ? undefined : blocks.get(height, "block");
  if (height === undefined || bytes === undefined) return { height: 0, hash: genesisHash };
  return { height, hash: readBlockHead(Uint8Array.from(bytes)).hash };
}

function isDiskFull(error: unknown): boolean {
  return error instanceof CodedError && error.code === "DISK_FULL";
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

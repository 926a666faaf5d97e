/**
 * Follows the chain: takes blocks and result votes from the replicas that are followed, has blocks
 * proved final, and gives them to the block pipeline. Replicas that are Byzantine, stall or lag are
 * replaced by others.
 */
import { invariant } from "../../base/invariant.ts";
import type { Block, ReplicaIndex } from "../../consensus/block.ts";
import type { FinalCert } from "../../consensus/certificate.ts";
import type { ExecVote } from "../../consensus/message.ts";
import type { ReplicaReport } from "../../wire/client-codec.ts";
import type { PendingTransactions } from "../transactions/pending-transactions.ts";
import type { BlockPipeline } from "./block-pipeline.ts";
import type { BlockProver } from "./block-prover.ts";
import type { BlockStreams } from "./block-streams.ts";
import type { ChainProgress } from "./chain-progress.ts";
import type { FollowedReplicas } from "./followed-replicas.ts";
import type { PublishedHead } from "./published-head.ts";
import type { ResultProofs } from "./result-proofs.ts";

export type FollowerOptions = {
  /** Without progress for so long while there is something to wait for, more replicas are asked. */
  readonly stallMs: number;
};

export type FollowerDependencies = {
  readonly prover: BlockProver;
  readonly replicas: FollowedReplicas;
  readonly streams: BlockStreams;
  readonly proofs: ResultProofs;
  readonly pipeline: BlockPipeline;
  readonly head: PublishedHead;
  readonly progress: ChainProgress;
  readonly pending: Pick<PendingTransactions, "hasExecutable">;
};

const NARROW_AFTER_MS = 10_000;

export class Follower {
  readonly #stallMs: number;
  readonly #dependencies: FollowerDependencies;
  #progressMs = performance.now();
  #widenedMs = performance.now();

  constructor(options: FollowerOptions, dependencies: FollowerDependencies) {
    this.#stallMs = options.stallMs;
    this.#dependencies = dependencies;
    const { prover, head } = dependencies;
    invariant(prover.height >= head.height, "the store has all that was executed");
  }

  start(): void {
    const { pipeline, prover } = this.#dependencies;
    pipeline.start(prover.height);
  }

  onUp(replica: ReplicaIndex): void {
    const { streams, replicas } = this.#dependencies;
    streams.reset(replica);
    replicas.onUp(replica, performance.now());
  }

  onDown(replica: ReplicaIndex): void {
    const { streams, replicas } = this.#dependencies;
    streams.reset(replica);
    replicas.onDown(replica, performance.now());
  }

  onReport(replica: ReplicaIndex, report: ReplicaReport): void {
    this.#dependencies.replicas.onReport(replica, report);
  }

  /** Whether a block of this height adds nothing, so that it need not be decoded. */
  isProved(height: number): boolean {
    return height <= this.#dependencies.prover.height;
  }

  /** A replica sent a block that another one has sent before. */
  onKnownBlock(replica: ReplicaIndex, height: number): void {
    this.#dependencies.streams.onBlock(replica, height);
  }

  onBlock(replica: ReplicaIndex, block: Block, certificate: FinalCert | undefined): void {
    const { pipeline, replicas, prover, streams } = this.#dependencies;
    if (pipeline.isStopped || !replicas.isFollowed(replica)) return;
    const outcome = prover.add(block, certificate, replica);
    switch (outcome.kind) {
      case "kept":
        break;
      case "gap":
        // Sent before the stream was moved; the stall timer asks again if it was not.
        return;
      case "byzantine":
        replicas.distrust(replica, outcome.reason);
        return;
      case "proved":
        pipeline.add(outcome.proved);
    }
    streams.onBlock(replica, block.header.height);
  }

  onVote(replica: ReplicaIndex, vote: ExecVote): void {
    const { pipeline, replicas, proofs, head } = this.#dependencies;
    if (pipeline.isStopped || !replicas.isFollowed(replica)) return;
    replicas.onVote(replica, vote.height);
    proofs.addVote(vote, replica);
    // Most votes come when their height is executed: then this publishes it.
    if (vote.height === head.height + 1) pipeline.wake();
  }

  /** Called often: asks more replicas when nothing moves, and fewer when all is well. */
  tick(): void {
    const { pipeline, replicas, progress, pending } = this.#dependencies;
    const nowMs = performance.now();
    const isBehind = progress.lag > 0;
    pipeline.wake();
    replicas.fill(nowMs);
    if (!isBehind && !pending.hasExecutable) {
      this.#progressMs = nowMs;
      if (nowMs - this.#widenedMs < NARROW_AFTER_MS) return;
      this.#widenedMs = nowMs;
      replicas.narrow();
      return;
    }
    const progressMs = Math.max(this.#progressMs, pipeline.publishedMs);
    if (nowMs - progressMs < this.#stallMs) return;
    this.#progressMs = nowMs;
    this.#widenedMs = nowMs;
    replicas.widen(nowMs);
  }

  /** Ends the following; what has been published is flushed to the disk. */
  stop(): Promise<void> {
    return this.#dependencies.pipeline.stop();
  }
}

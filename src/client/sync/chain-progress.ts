/** How far this node is behind the chain, as far as proofs and f+1 reports tell. */
import type { BlockProver } from "./block-prover.ts";
import type { FollowedReplicas } from "./followed-replicas.ts";
import type { PublishedHead } from "./published-head.ts";

export type ChainProgressOptions = {
  /** 2f+1. */
  readonly quorum: number;
  /** The height that an earlier process of this node has shown to readers. */
  readonly shownBefore: number;
};

export type ChainProgressDependencies = {
  readonly head: PublishedHead;
  readonly prover: BlockProver;
  readonly replicas: FollowedReplicas;
};

export class ChainProgress {
  readonly #options: ChainProgressOptions;
  readonly #dependencies: ChainProgressDependencies;

  constructor(options: ChainProgressOptions, dependencies: ChainProgressDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** The last height that is proved final here. */
  get provedHeight(): number {
    return this.#dependencies.prover.height;
  }

  /** The last height that is known to be final: here, by f+1 replicas, or shown before. */
  get finalHeight(): number {
    return Math.max(this.#reportedHeight, this.provedHeight, this.#options.shownBefore);
  }

  /** Heights that are known to be final and are not published here yet. */
  get lag(): number {
    return Math.max(0, this.finalHeight - this.#dependencies.head.height);
  }

  /** 2f+1 replicas have reported, and f+1 of them report no height that is missing here. */
  get isSynced(): boolean {
    const { head, replicas } = this.#dependencies;
    if (replicas.reportCount < this.#options.quorum) return false;
    return head.height >= Math.max(this.#reportedHeight, this.#options.shownBefore);
  }

  get #reportedHeight(): number {
    return this.#dependencies.replicas.reportedHeight() ?? 0;
  }
}

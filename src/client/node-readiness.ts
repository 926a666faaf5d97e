/** SPEC N6: the node is ready with links to 2f+1 replicas, once it has caught up with the chain. */
import type { Quorum } from "../consensus/quorum.ts";
import type { NodeFailure } from "./node-failure.ts";
import type { ReplicaLinks } from "./replica-links.ts";
import type { ChainProgress } from "./sync/chain-progress.ts";

export type NodeReadinessDependencies = {
  readonly quorum: Quorum;
  readonly progress: ChainProgress;
  readonly links: Pick<ReplicaLinks, "replicasUp">;
  readonly failure: Pick<NodeFailure, "hasStopped">;
};

export class NodeReadiness {
  readonly #dependencies: NodeReadinessDependencies;
  readonly #waiting: (() => void)[] = [];
  #hasBeenSynced = false;

  constructor(dependencies: NodeReadinessDependencies) {
    this.#dependencies = dependencies;
  }

  get isReady(): boolean {
    const { links, quorum, failure } = this.#dependencies;
    const isUp = links.replicasUp.length >= quorum.quorum;
    return this.#hasBeenSynced && isUp && !failure.hasStopped;
  }

  get hasBeenSynced(): boolean {
    return this.#hasBeenSynced;
  }

  /** Heights that are missing before the node is synced for the first time; 0 afterwards. */
  get syncLag(): number {
    return this.#hasBeenSynced ? 0 : this.#dependencies.progress.lag;
  }

  /** Resolves when the node is ready for the first time. */
  whenReady(): Promise<void> {
    if (this.#hasBeenSynced) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Called whenever a height was published or a replica has reported. */
  check(): void {
    const { progress, failure } = this.#dependencies;
    if (this.#hasBeenSynced || failure.hasStopped || !progress.isSynced) return;
    this.#hasBeenSynced = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Asks replicas for their status: at once when a link comes up, and then at intervals. */
import type { ReplicaIndex } from "../consensus/block.ts";
import type { NodeReadiness } from "./node-readiness.ts";
import type { ReplicaLinks } from "./replica-links.ts";

export type ReplicaStatusPollerDependencies = {
  readonly links: Pick<ReplicaLinks, "ask" | "replicasUp">;
  readonly readiness: Pick<NodeReadiness, "hasBeenSynced">;
};

export class ReplicaStatusPoller {
  readonly #statusMs: number;
  readonly #dependencies: ReplicaStatusPollerDependencies;
  #nonce = 0;
  #dueMs = 0;

  constructor(
    options: { readonly statusMs: number },
    dependencies: ReplicaStatusPollerDependencies,
  ) {
    this.#statusMs = options.statusMs;
    this.#dependencies = dependencies;
  }

  ask(replica: ReplicaIndex): void {
    this.#nonce++;
    this.#dependencies.links.ask(replica, { kind: "statusRequest", nonce: this.#nonce });
  }

  tick(nowMs: number): void {
    const { links, readiness } = this.#dependencies;
    if (nowMs < this.#dueMs) return;
    // Until the node is ready it asks at every tick: readiness waits for the answers.
    this.#dueMs = nowMs + (readiness.hasBeenSynced ? this.#statusMs : 0);
    for (const replica of links.replicasUp) this.ask(replica);
  }
}

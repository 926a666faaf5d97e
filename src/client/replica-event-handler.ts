/** Gives what comes from replicas to the part of the node that it concerns. */
import type { Block, Hash, ReplicaIndex } from "../consensus/block.ts";
import type { FinalCert } from "../consensus/certificate.ts";
import type { ExecVote } from "../consensus/message.ts";
import type { ReplicaReport } from "../wire/client-codec.ts";
import type { NodeReadiness } from "./node-readiness.ts";
import type { ReplicaEvents } from "./replica-links.ts";
import type { ReplicaStatusPoller } from "./replica-status-poller.ts";
import type { Follower } from "./sync/follower.ts";
import type { PendingTransactions } from "./transactions/pending-transactions.ts";

export type ReplicaEventHandlerDependencies = {
  readonly follower: Follower;
  readonly pending: PendingTransactions;
  readonly poller: ReplicaStatusPoller;
  readonly readiness: NodeReadiness;
};

export class ReplicaEventHandler implements ReplicaEvents {
  readonly #dependencies: ReplicaEventHandlerDependencies;

  constructor(dependencies: ReplicaEventHandlerDependencies) {
    this.#dependencies = dependencies;
  }

  onUp(replica: ReplicaIndex): void {
    const { follower, poller, pending } = this.#dependencies;
    follower.onUp(replica);
    poller.ask(replica);
    pending.onReplicaUp(replica);
  }

  onDown(replica: ReplicaIndex): void {
    this.#dependencies.follower.onDown(replica);
  }

  isKnown(height: number): boolean {
    return this.#dependencies.follower.isProved(height);
  }

  onKnownBlock(replica: ReplicaIndex, height: number): void {
    this.#dependencies.follower.onKnownBlock(replica, height);
  }

  onBlock(replica: ReplicaIndex, block: Block, certificate: FinalCert | undefined): void {
    this.#dependencies.follower.onBlock(replica, block, certificate);
  }

  onVote(replica: ReplicaIndex, vote: ExecVote): void {
    this.#dependencies.follower.onVote(replica, vote);
  }

  onRefused(replica: ReplicaIndex, id: Hash, code: string): void {
    this.#dependencies.pending.onReplicaRefused(replica, id, code);
  }

  onReport(replica: ReplicaIndex, report: ReplicaReport): void {
    this.#dependencies.follower.onReport(replica, report);
    this.#dependencies.readiness.check();
  }
}

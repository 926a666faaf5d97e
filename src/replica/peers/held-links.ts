/**
 * Which replicas are not read from for a while. There are two reasons, which come and go apart: a
 * body of that peer is being checked, or the disk has stalled and nothing more can be taken from
 * any peer. The peers' own send queues are the limit to what gathers meanwhile.
 */
import type { ReplicaIndex } from "../../consensus/block.ts";

export type HoldableLinks = {
  readonly replicas: readonly ReplicaIndex[];
  hold(peer: ReplicaIndex, isHeld: boolean): void;
};

export class HeldLinks {
  readonly #links: HoldableLinks;
  readonly #held = new Set<ReplicaIndex>();
  #isAllHeld = false;

  constructor(links: HoldableLinks) {
    this.#links = links;
  }

  hold(peer: ReplicaIndex, isHeld: boolean): void {
    if (isHeld) this.#held.add(peer);
    else this.#held.delete(peer);
    if (!this.#isAllHeld) this.#links.hold(peer, isHeld);
  }

  holdAll(isHeld: boolean): void {
    this.#isAllHeld = isHeld;
    for (const peer of this.#links.replicas) this.#links.hold(peer, isHeld || this.#held.has(peer));
  }
}

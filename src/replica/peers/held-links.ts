/**
 * Which replicas are not read from for a while. There are two reasons, which come and go apart: a
 * body of that peer is being checked, or the disk has stalled and nothing more can be taken from
 * anybody. The peers' own send queues are the limit to what gathers meanwhile.
 */
import type { ReplicaIndex } from "../../consensus/block.ts";

export class HeldLinks {
  readonly #peers: readonly ReplicaIndex[];
  readonly #apply: (peer: ReplicaIndex, isHeld: boolean) => void;
  readonly #held = new Set<ReplicaIndex>();
  #isAllHeld = false;

  constructor(
    peers: readonly ReplicaIndex[],
    apply: (peer: ReplicaIndex, isHeld: boolean) => void,
  ) {
    this.#peers = peers;
    this.#apply = apply;
  }

  hold(peer: ReplicaIndex, isHeld: boolean): void {
    if (isHeld) this.#held.add(peer);
    else this.#held.delete(peer);
    if (!this.#isAllHeld) this.#apply(peer, isHeld);
  }

  holdAll(isHeld: boolean): void {
    this.#isAllHeld = isHeld;
    for (const peer of this.#peers) this.#apply(peer, isHeld || this.#held.has(peer));
  }
}

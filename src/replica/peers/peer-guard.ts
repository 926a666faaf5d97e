/** What is done about peers that send too much, or what is forged. */
import type { Logger } from "../../base/logger.ts";
import type { Principal } from "../../transport/principal.ts";
import { isForged } from "./forged.ts";
import { PeerPenalties } from "./peer-penalties.ts";

/** The part of a transport that it needs. */
export type GuardedLinks = {
  isReplica(peer: Principal): boolean;
  isUp(peer: Principal): boolean;
  hold(peer: Principal, isHeld: boolean): void;
  bar(peer: Principal, pauseMs: number): void;
};

export type PeerGuardDependencies = {
  readonly logger: Logger;
  readonly links: GuardedLinks;
  /** The peer lost its link. */
  onBarred(peer: Principal): void;
};

export class PeerGuard {
  readonly #dependencies: PeerGuardDependencies;
  readonly #penalties = new PeerPenalties();

  constructor(dependencies: PeerGuardDependencies) {
    this.#dependencies = dependencies;
  }

  /** Not replicas: their votes travel on the same link as the transactions that they forward. */
  hold(peer: Principal | undefined, isHeld: boolean): void {
    const { links } = this.#dependencies;
    if (peer !== undefined && !links.isReplica(peer)) links.hold(peer, isHeld);
  }

  /** A peer that is cut off already is not punished for what was under way. */
  onForged(peer: Principal | undefined, code: string): void {
    const { logger, links } = this.#dependencies;
    if (peer === undefined || !isForged(code) || !links.isUp(peer)) return;
    const pauseMs = this.#penalties.note(peer, performance.now());
    if (pauseMs === undefined) return;
    logger.warn("a peer sends what is forged and is cut off", { peer, code, pauseMs });
    links.bar(peer, pauseMs);
    this.#dependencies.onBarred(peer);
  }
}

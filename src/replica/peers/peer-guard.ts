/** What is done about peers that send too much, or what is forged. */
import type { Logger } from "../../base/logger.ts";
import type { Principal } from "../../transport/principal.ts";
import { isForged } from "./forged.ts";
import { PeerPenalties } from "./peer-penalties.ts";

/** The part of a transport that it needs. */
export type GuardedLinks = {
  isUp(peer: Principal): boolean;
  hold(peer: Principal, isHeld: boolean): void;
  bar(peer: Principal, pauseMs: number): void;
};

export type PeerGuardDependencies = {
  readonly logger: Logger;
  readonly isReplica: (peer: Principal) => boolean;
  /** Undefined before the node listens. */
  readonly links: () => GuardedLinks | undefined;
  readonly onBarred: (peer: Principal) => void;
};

export class PeerGuard {
  readonly #dependencies: PeerGuardDependencies;
  readonly #penalties = new PeerPenalties();

  constructor(dependencies: PeerGuardDependencies) {
    this.#dependencies = dependencies;
  }

  /** Not replicas: their votes travel on the same link as the transactions that they forward. */
  hold(peer: Principal | undefined, isHeld: boolean): void {
    const { isReplica, links } = this.#dependencies;
    if (peer !== undefined && !isReplica(peer)) links()?.hold(peer, isHeld);
  }

  /** A peer that is cut off already is not punished for what was under way. */
  onForged(peer: Principal | undefined, code: string): void {
    const { logger, links, onBarred } = this.#dependencies;
    const transport = links();
    if (peer === undefined || !isForged(code) || transport?.isUp(peer) !== true) return;
    const pauseMs = this.#penalties.note(peer, performance.now());
    if (pauseMs === undefined) return;
    logger.warn("a peer sends what is forged and is cut off", { peer, code, pauseMs });
    transport.bar(peer, pauseMs);
    onBarred(peer);
  }
}

/**
 * The streams of final blocks that replicas send: where each starts, and backpressure. A replica
 * whose blocks are far above the executed height is not read from until the execution catches up.
 */
import type { ReplicaIndex } from "../../consensus/block.ts";
import type { ReplicaLinks } from "../replica-links.ts";
import type { BlockProver } from "./block-prover.ts";
import type { ChainExecutor } from "./chain-executor.ts";
import type { PublishedHead } from "./published-head.ts";

export type BlockStreamsDependencies = {
  readonly links: Pick<ReplicaLinks, "ask" | "hold">;
  readonly prover: BlockProver;
  readonly executor: Pick<ChainExecutor, "height">;
  readonly head: PublishedHead;
};

/** Blocks between the executed height and the last one sent that pause a stream, and resume it. */
const BACKLOG_MAX = 256;
const BACKLOG_LOW = 128;
/** No chain is so long: a stream that starts here sends nothing. */
const NEVER_HEIGHT = Number.MAX_SAFE_INTEGER;

export class BlockStreams {
  readonly #dependencies: BlockStreamsDependencies;
  /** The last height that came over the present link. */
  readonly #sent = new Map<ReplicaIndex, number>();
  readonly #held = new Set<ReplicaIndex>();

  constructor(dependencies: BlockStreamsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts the stream after the published height, or moves it there. */
  follow(replica: ReplicaIndex): void {
    const { links, prover, head } = this.#dependencies;
    prover.forget(replica);
    links.ask(replica, { kind: "follow", fromHeight: head.height + 1 });
  }

  unfollow(replica: ReplicaIndex): void {
    const { links, prover } = this.#dependencies;
    prover.forget(replica);
    links.ask(replica, { kind: "follow", fromHeight: NEVER_HEIGHT });
    this.#setHeld(replica, false);
  }

  /** The link is new or gone. A hold outlives a connection: the next one would never be read. */
  reset(replica: ReplicaIndex): void {
    this.#setHeld(replica, false);
    this.#sent.delete(replica);
    this.#dependencies.prover.forget(replica);
  }

  onBlock(replica: ReplicaIndex, height: number): void {
    this.#sent.set(replica, height);
    if (this.#isAhead(replica, BACKLOG_MAX)) this.#setHeld(replica, true);
  }

  /** Reads again from replicas whose backlog has been executed. */
  release(): void {
    for (const replica of this.#held) {
      if (!this.#isAhead(replica, BACKLOG_LOW)) this.#setHeld(replica, false);
    }
  }

  #isAhead(replica: ReplicaIndex, backlog: number): boolean {
    return (this.#sent.get(replica) ?? 0) > this.#dependencies.executor.height + backlog;
  }

  #setHeld(replica: ReplicaIndex, isHeld: boolean): void {
    if (this.#held.has(replica) === isHeld) return;
    if (isHeld) this.#held.add(replica);
    else this.#held.delete(replica);
    this.#dependencies.links.hold(replica, isHeld);
  }
}

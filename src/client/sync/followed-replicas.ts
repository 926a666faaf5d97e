/**
 * Which replicas are followed: 2f+1 while all goes well, so that f Byzantine or hanging ones among
 * them do no harm; more when nothing moves all the same; a distrusted one only when no other is
 * left.
 */
import type { Logger } from "../../base/logger.ts";
import type { ReplicaIndex } from "../../consensus/block.ts";
import type { Quorum } from "../../consensus/quorum.ts";
import type { ReplicaReport } from "../../wire/client-codec.ts";
import type { BlockStreams } from "./block-streams.ts";

export type FollowedOptions = {
  readonly quorum: Quorum;
  readonly distrustMs: number;
};

export type FollowedDependencies = {
  readonly streams: Pick<BlockStreams, "follow" | "unfollow">;
  readonly logger: Logger;
};

type Followed = {
  isUp: boolean;
  isFollowed: boolean;
  distrustedUntilMs: number;
  /** The last height of a vote that came over the present link. */
  voteHeight: number;
  report: ReplicaReport | undefined;
};

export type FollowedStatus = {
  readonly replica: ReplicaIndex;
  readonly isUp: boolean;
  readonly isFollowed: boolean;
  readonly isDistrusted: boolean;
  /** Its last report; undefined while its link is down and before the first report. */
  readonly report: ReplicaReport | undefined;
};

export class FollowedReplicas {
  readonly #options: FollowedOptions;
  readonly #dependencies: FollowedDependencies;
  readonly #replicas: Followed[];

  constructor(options: FollowedOptions, dependencies: FollowedDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#replicas = Array.from({ length: options.quorum.replicaCount }, createFollowed);
  }

  get followed(): readonly ReplicaIndex[] {
    return this.#all().filter((replica) => this.#replicas[replica]?.isFollowed === true);
  }

  get up(): readonly ReplicaIndex[] {
    return this.#all().filter((replica) => this.#replicas[replica]?.isUp === true);
  }

  isFollowed(replica: ReplicaIndex): boolean {
    return this.#replicas[replica]?.isFollowed === true;
  }

  onUp(replica: ReplicaIndex, nowMs: number): void {
    const distrustedUntilMs = this.#replicas[replica]?.distrustedUntilMs ?? 0;
    this.#replicas[replica] = { ...createFollowed(), isUp: true, distrustedUntilMs };
    this.fill(nowMs);
  }

  onDown(replica: ReplicaIndex, nowMs: number): void {
    const distrustedUntilMs = this.#replicas[replica]?.distrustedUntilMs ?? 0;
    this.#replicas[replica] = { ...createFollowed(), distrustedUntilMs };
    this.fill(nowMs);
  }

  onReport(replica: ReplicaIndex, report: ReplicaReport): void {
    const known = this.#replicas[replica];
    if (known !== undefined) known.report = report;
  }

  onVote(replica: ReplicaIndex, height: number): void {
    const known = this.#replicas[replica];
    if (known !== undefined) known.voteHeight = height;
  }

  /** The replica sent what no correct one sends; `reason` is the code of what it was. */
  distrust(replica: ReplicaIndex, reason: string): void {
    const { logger } = this.#dependencies;
    logger.debug("a replica sent what no correct replica sends", { replica, reason });
    const nowMs = performance.now();
    const known = this.#replicas[replica];
    if (known === undefined) return;
    known.distrustedUntilMs = nowMs + this.#options.distrustMs;
    this.#stop(replica);
    this.fill(nowMs);
  }

  /** Follows until there are enough. */
  fill(nowMs: number): void {
    while (this.followed.length < this.#options.quorum.quorum) {
      if (!this.#start(this.#best(nowMs, true))) return;
    }
  }

  /** Nothing moves: one more, or all of them anew. */
  widen(nowMs: number): void {
    if (this.#start(this.#best(nowMs, false))) return;
    for (const replica of this.followed) this.#dependencies.streams.follow(replica);
  }

  /** All is well: the one that is furthest behind is not needed. */
  narrow(): void {
    const followed = this.followed.toSorted((a, b) => this.#progressOf(a) - this.#progressOf(b));
    const [slowest] = followed;
    if (slowest !== undefined && followed.length > this.#options.quorum.quorum) this.#stop(slowest);
  }

  /** The highest final height that f+1 replicas reached: at least one of them is correct. */
  reportedHeight(): number | undefined {
    const heights = this.#replicas.flatMap(({ report }) => report?.finalHeight ?? []);
    return heights.toSorted((a, b) => b - a)[this.#options.quorum.weak - 1];
  }

  /** How many are up and have reported their heights. */
  get reportCount(): number {
    return this.#replicas.filter(({ isUp, report }) => isUp && report !== undefined).length;
  }

  status(nowMs: number): FollowedStatus[] {
    return this.#replicas.map(({ isUp, isFollowed, distrustedUntilMs, report }, replica) => {
      return { replica, isUp, isFollowed, isDistrusted: distrustedUntilMs > nowMs, report };
    });
  }

  #all(): ReplicaIndex[] {
    return this.#replicas.map((_, replica) => replica);
  }

  /** One that is up and not followed, trusted before others, then the furthest. */
  #best(nowMs: number, onlyTrusted: boolean): ReplicaIndex | undefined {
    const candidates = this.up.filter((replica) => !this.isFollowed(replica));
    const isTrusted = (replica: ReplicaIndex): boolean =>
      (this.#replicas[replica]?.distrustedUntilMs ?? 0) <= nowMs;
    const heightOf = (replica: ReplicaIndex): number =>
      this.#replicas[replica]?.report?.execHeight ?? 0;
    const trusted = candidates.filter(isTrusted);
    const pool = trusted.length > 0 || onlyTrusted ? trusted : candidates;
    return pool.toSorted((a, b) => heightOf(b) - heightOf(a))[0];
  }

  #start(replica: ReplicaIndex | undefined): boolean {
    const known = replica === undefined ? undefined : this.#replicas[replica];
    if (replica === undefined || known === undefined) return false;
    known.isFollowed = true;
    this.#dependencies.streams.follow(replica);
    return true;
  }

  #stop(replica: ReplicaIndex): void {
    const known = this.#replicas[replica];
    if (known?.isFollowed !== true) return;
    known.isFollowed = false;
    this.#dependencies.streams.unfollow(replica);
  }

  #progressOf(replica: ReplicaIndex): number {
    return this.#replicas[replica]?.voteHeight ?? 0;
  }
}

function createFollowed(): Followed {
  return {
    isUp: false,
    isFollowed: false,
    distrustedUntilMs: 0,
    voteHeight: 0,
    report: undefined,
  };
}

/**
 * The results that replicas signed for heights that are not published yet. f+1 equal ones hold at
 * least one of a correct replica: what they say is the result.
 */
import type { Hash, ReplicaIndex } from "../../consensus/block.ts";
import type { ExecVote } from "../../consensus/message.ts";
import type { PeerMessageAuthenticator } from "../../wire/authenticate.ts";
import type { FollowedReplicas } from "./followed-replicas.ts";

/** What this node knows of a height that it executed. */
export type OwnResult = {
  readonly height: number;
  readonly blockHash: Hash;
  readonly result: Hash;
};

export type VoteVerdict =
  | { readonly kind: "waiting" }
  /** By these. */
  | { readonly kind: "matched"; readonly votes: readonly ExecVote[] }
  /** f+1 replicas agree on another result than ours. */
  | { readonly kind: "diverged"; readonly result: Hash };

export type ResultVotesOptions = {
  /** f+1. */
  readonly needed: number;
  /** Votes of heights further above the published one are not kept. */
  readonly heightsMax: number;
};

export type ResultVotesDependencies = {
  readonly authenticator: Pick<PeerMessageAuthenticator, "authenticate">;
  /** Takes a replica whose vote is not signed by it, or is for another block than the final one. */
  readonly replicas: Pick<FollowedReplicas, "distrust">;
};

type Held = { readonly vote: ExecVote; readonly from: ReplicaIndex; isVerified: boolean };

export class ResultVotes {
  readonly #options: ResultVotesOptions;
  readonly #dependencies: ResultVotesDependencies;
  readonly #heights = new Map<number, Map<ReplicaIndex, Held>>();
  #published = 0;

  constructor(options: ResultVotesOptions, dependencies: ResultVotesDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Only a replica's own votes are taken from it: so it cannot fill the place of another's. */
  add(vote: ExecVote, from: ReplicaIndex): void {
    const { height, sender } = vote;
    if (sender !== from) {
      this.#dependencies.replicas.distrust(from, "VOTE_NOT_ITS_OWN");
      return;
    }
    if (height <= this.#published || height > this.#published + this.#options.heightsMax) return;
    const votes = this.#heights.get(height) ?? new Map<ReplicaIndex, Held>();
    this.#heights.set(height, votes);
    // The first stays: a replica that says two things at one height may not take back the first.
    if (!votes.has(sender)) votes.set(sender, { vote, from, isVerified: false });
  }

  /** Signatures are checked here, once each, and only where they count. */
  judge(own: OwnResult): VoteVerdict {
    const votes = this.#heights.get(own.height);
    if (votes === undefined || votes.size < this.#options.needed) return { kind: "waiting" };
    const good = new Map<Hash, ExecVote[]>();
    for (const [sender, held] of votes) {
      if (!this.#isGood(held, own)) {
        votes.delete(sender);
        continue;
      }
      const { result } = held.vote;
      const equal = [...(good.get(result) ?? []), held.vote];
      good.set(result, equal);
      if (equal.length < this.#options.needed) continue;
      if (result !== own.result) return { kind: "diverged", result };
      return { kind: "matched", votes: equal };
    }
    return { kind: "waiting" };
  }

  /** Everything up to this height is published: replicas with another result are distrusted. */
  onPublished(own: OwnResult): void {
    const { replicas } = this.#dependencies;
    for (const [, { vote, from }] of this.#heights.get(own.height) ?? []) {
      if (vote.result !== own.result) replicas.distrust(from, "VOTE_RESULT_WRONG");
    }
    this.start(own.height);
  }

  /** Forgets what is at or below the height. */
  start(height: number): void {
    for (let at = this.#published + 1; at <= height; at++) this.#heights.delete(at);
    this.#published = height;
  }

  #isGood(held: Held, own: OwnResult): boolean {
    if (held.isVerified) return true;
    const { vote, from } = held;
    if (vote.blockHash !== own.blockHash) {
      this.#dependencies.replicas.distrust(from, "VOTE_BLOCK_WRONG");
      return false;
    }
    if (!this.#dependencies.authenticator.authenticate(vote, vote.sender).ok) {
      this.#dependencies.replicas.distrust(from, "VOTE_SIGNATURE_INVALID");
      return false;
    }
    held.isVerified = true;
    return true;
  }
}

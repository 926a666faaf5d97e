/**
 * Votes and Commits by height and sender (PROTOCOL §11): those of the current view inside the
 * window, and per sender one set for its highest future view, so that a replica that enters a view
 * late has not lost what was said in it. A sender's first ballot of a height counts; a second,
 * different one never replaces it but proves equivocation.
 */
import type { Hash } from "../block.ts";
import type { Commit, Vote } from "../message.ts";

export type Ballot = Vote | Commit;

export type BallotOutcome = "new" | "same" | { readonly first: Ballot };

/** The ballots of one kind in one view. */
export class Tally<Kind extends Ballot> {
  readonly #byHeight = new Map<number, Map<number, Kind>>();

  add(ballot: Kind): "new" | "same" | { readonly first: Kind } {
    let bySender = this.#byHeight.get(ballot.height);
    if (bySender === undefined) {
      bySender = new Map();
      this.#byHeight.set(ballot.height, bySender);
    }
    const first = bySender.get(ballot.sender);
    if (first === undefined) {
      bySender.set(ballot.sender, ballot);
      return "new";
    }
    return first.blockHash === ballot.blockHash ? "same" : { first };
  }

  /** The heights with ballots, highest first. */
  heights(): readonly number[] {
    return [...this.#byHeight.keys()].sort((a, b) => b - a);
  }

  /** All ballots of a height in order of their senders. */
  at(height: number): readonly Kind[] {
    const bySender = this.#byHeight.get(height);
    return bySender === undefined ? [] : [...bySender.values()].sort((a, b) => a.sender - b.sender);
  }

  for(height: number, blockHash: Hash): readonly Kind[] {
    return this.at(height).filter((ballot) => ballot.blockHash === blockHash);
  }

  /** The blocks of a height with how many senders named each. */
  counts(height: number): ReadonlyMap<Hash, number> {
    const counts = new Map<Hash, number>();
    for (const { blockHash } of this.at(height)) {
      counts.set(blockHash, (counts.get(blockHash) ?? 0) + 1);
    }
    return counts;
  }

  all(): readonly Kind[] {
    return this.heights().flatMap((height) => this.at(height));
  }

  dropThrough(height: number): void {
    for (const key of this.#byHeight.keys()) if (key <= height) this.#byHeight.delete(key);
  }

  clear(): void {
    this.#byHeight.clear();
  }

  get size(): number {
    let size = 0;
    for (const bySender of this.#byHeight.values()) size += bySender.size;
    return size;
  }
}

type FutureSet = { readonly view: number; readonly ballots: Map<string, Ballot> };

export class Ballots {
  readonly votes = new Tally<Vote>();
  readonly commits = new Tally<Commit>();
  readonly #future = new Map<number, FutureSet>();
  readonly #perSenderMax: number;

  /** `perSenderMax` bounds what one sender may store for a future view. */
  constructor(perSenderMax: number) {
    this.#perSenderMax = perSenderMax;
  }

  add(ballot: Ballot): BallotOutcome {
    return ballot.kind === "vote" ? this.votes.add(ballot) : this.commits.add(ballot);
  }

  /** Keeps a ballot of a view to come: only of the sender's highest such view. */
  addFuture(ballot: Ballot): BallotOutcome {
    let set = this.#future.get(ballot.sender);
    if (set === undefined || ballot.view > set.view) {
      set = { view: ballot.view, ballots: new Map() };
      this.#future.set(ballot.sender, set);
    }
    if (ballot.view < set.view || set.ballots.size >= this.#perSenderMax) return "same";
    const key = `${ballot.kind}/${ballot.height}`;
    const first = set.ballots.get(key);
    if (first === undefined) {
      set.ballots.set(key, ballot);
      return "new";
    }
    return first.blockHash === ballot.blockHash ? "same" : { first };
  }

  /** Starts a view: its ballots that came early count now, those of older views are forgotten. */
  enterView(view: number): void {
    this.votes.clear();
    this.commits.clear();
    for (const [sender, set] of this.#future) {
      if (set.view > view) continue;
      this.#future.delete(sender);
      if (set.view === view) for (const ballot of set.ballots.values()) this.add(ballot);
    }
  }

  dropThrough(height: number): void {
    this.votes.dropThrough(height);
    this.commits.dropThrough(height);
  }

  clear(): void {
    this.votes.clear();
    this.commits.clear();
    this.#future.clear();
  }

  get size(): number {
    let size = this.votes.size + this.commits.size;
    for (const { ballots } of this.#future.values()) size += ballots.size;
    return size;
  }
}

/**
 * What is final by the messages that were ever sent, received or not (S2). Byzantine replicas may
 * sign anything at any time, so a statement counts as certified as soon as the correct replicas
 * alone could complete it with the signatures that Byzantine replicas withhold.
 */
import type { BlockRef, Hash } from "../../../src/consensus/block.ts";
import type { Commit, Vote } from "../../../src/consensus/message.ts";
import type { Quorum } from "../../../src/consensus/quorum.ts";
import type { BlockRegistry } from "./block-registry.ts";
import { signedKey } from "./durable-facts.ts";
import { Violation } from "./violation.ts";

export type FinalPoint = {
  readonly epoch: number;
  readonly view: number;
  readonly block: BlockRef;
  readonly path: "fast" | "slow";
};

export class FinalityLedger {
  readonly #registry: BlockRegistry;
  readonly #quorum: Quorum;
  readonly #byzantine: ReadonlySet<number>;
  readonly #onFinal: (point: FinalPoint) => void;
  readonly #voters = new Map<string, { readonly senders: Set<number>; readonly height: number }>();
  /** By "epoch/view". */
  readonly #topCertified = new Map<string, BlockRef>();
  readonly #commits = new Map<string, Map<string, { readonly sender: number; block: BlockRef }>>();
  readonly #finalHashes = new Map<number, Hash>();
  /** By "epoch/view": the highest block that is final in it. */
  readonly #points = new Map<string, FinalPoint>();
  #finalHeight = 0;

  constructor(
    options: { readonly quorum: Quorum; readonly byzantine: ReadonlySet<number> },
    dependencies: {
      readonly registry: BlockRegistry;
      readonly genesisHash: Hash;
      readonly onFinal: (point: FinalPoint) => void;
    },
  ) {
    this.#quorum = options.quorum;
    this.#byzantine = options.byzantine;
    this.#registry = dependencies.registry;
    this.#onFinal = dependencies.onFinal;
    this.#finalHashes.set(0, dependencies.genesisHash);
  }

  finalHeight(): number {
    return this.#finalHeight;
  }

  finalHash(height: number): Hash | undefined {
    return this.#finalHashes.get(height);
  }

  points(): Iterable<FinalPoint> {
    return this.#points.values();
  }

  onVote(vote: Vote): void {
    if (this.#byzantine.has(vote.sender)) return;
    const key = signedKey(vote);
    const entry = this.#voters.get(key) ?? { senders: new Set(), height: vote.height };
    if (entry.senders.has(vote.sender)) return;
    this.#voters.set(key, entry);
    entry.senders.add(vote.sender);
    const count = entry.senders.size + this.#byzantine.size;
    const block = { height: vote.height, hash: vote.blockHash };
    if (count >= this.#quorum.quorum) this.#onCertified(vote, block);
    if (count >= this.#quorum.replicaCount) {
      this.#onFinalPoint({ epoch: vote.epoch, view: vote.view, block, path: "fast" });
    }
  }

  onCommit(commit: Commit): void {
    if (this.#byzantine.has(commit.sender)) return;
    const key = `${commit.epoch}/${commit.view}`;
    const commits = this.#commits.get(key) ?? new Map<string, never>();
    this.#commits.set(key, commits);
    const block = { height: commit.height, hash: commit.blockHash };
    const own = `${commit.sender}/${commit.height}/${commit.blockHash}`;
    if (commits.has(own)) return;
    commits.set(own, { sender: commit.sender, block });
    let best: BlockRef | undefined;
    for (const { block: candidate } of commits.values()) {
      if (candidate.height > block.height) continue;
      if (best !== undefined && candidate.height <= best.height) continue;
      if (this.#finalHashes.get(candidate.height) === candidate.hash) continue;
      if (this.#isCommitted(candidate, commits.values())) best = candidate;
    }
    if (best !== undefined) {
      this.#onFinalPoint({ epoch: commit.epoch, view: commit.view, block: best, path: "slow" });
    }
    for (const [name, { block: old }] of commits) {
      if (this.#finalHashes.get(old.height) === old.hash) commits.delete(name);
    }
  }

  forgetBelow(height: number): void {
    for (const [key, entry] of this.#voters) if (entry.height < height) this.#voters.delete(key);
    for (const at of this.#finalHashes.keys()) if (at < height) this.#finalHashes.delete(at);
  }

  #isCommitted(
    candidate: BlockRef,
    commits: Iterable<{ readonly sender: number; readonly block: BlockRef }>,
  ): boolean {
    const supporters = new Set<number>();
    for (const { sender, block } of commits) {
      if (this.#registry.isAncestor(candidate, block.hash)) supporters.add(sender);
    }
    return supporters.size + this.#byzantine.size >= this.#quorum.quorum;
  }

  #onCertified(vote: Vote, block: BlockRef): void {
    const key = `${vote.epoch}/${vote.view}`;
    const top = this.#topCertified.get(key);
    if (top === undefined) {
      this.#topCertified.set(key, block);
      return;
    }
    const [low, high] = top.height <= block.height ? [top, block] : [block, top];
    if (low.height >= this.#finalHeight - 16 && !this.#registry.isAncestor(low, high.hash)) {
      throw new Violation("S2", `certificates of view ${key} off one chain: ${show(low, high)}`);
    }
    this.#topCertified.set(key, high);
  }

  #onFinalPoint(point: FinalPoint): void {
    const key = `${point.epoch}/${point.view}`;
    const earlier = this.#points.get(key);
    if (earlier !== undefined && earlier.block.height >= point.block.height) {
      const known = this.#finalHashes.get(point.block.height);
      if (known === undefined || known === point.block.hash) return;
    }
    let hash: Hash | undefined = point.block.hash;
    for (let height = point.block.height; hash !== undefined && height >= 0; height--) {
      const known = this.#finalHashes.get(height);
      if (known === hash) break;
      if (known !== undefined) {
        throw new Violation("S2", `two final blocks at height ${height}: ${known} and ${hash}`);
      }
      if (height < this.#finalHeight - 1_000) break;
      this.#finalHashes.set(height, hash);
      hash = this.#registry.header(hash)?.parent;
    }
    this.#finalHeight = Math.max(this.#finalHeight, point.block.height);
    this.#points.set(key, point);
    this.#onFinal(point);
  }
}

function show(a: BlockRef, b: BlockRef): string {
  return `${a.height} ${a.hash.slice(0, 12)} and ${b.height} ${b.hash.slice(0, 12)}`;
}

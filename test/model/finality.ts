/**
 * Which certificates exist. The Byzantine replica adds its Vote and its Commit to whatever it
 * likes, so a certificate exists as soon as the correct replicas did their part of it.
 */
import { quorumOf } from "../../src/consensus/quorum.ts";
import { isFast, isQuorum, slowFinal } from "../../src/consensus/safety/safety-rules.ts";
import type { BlockTree } from "./block-tree.ts";

export const QUORUM = quorumOf(4);
/** The position of the Byzantine replica. */
export const BYZANTINE = 3;
const CORRECT_COUNT = 3;

export class Finality {
  readonly #tree: BlockTree;
  /**
   * How many correct votes make a certificate, and a decision, together with the Byzantine
   * replica's.
   */
  readonly #quorumVotes = leastVotes((count) => isQuorum(count, QUORUM));
  readonly #fastVotes = leastVotes((count) => isFast(count, QUORUM));
  readonly #slow: Int16Array;
  /** Whether a set of blocks is one chain, for every set. */
  readonly isChain: Uint8Array;

  constructor(tree: BlockTree) {
    this.#tree = tree;
    this.#slow = new Int16Array(2 ** (tree.count * 3)).fill(-1);
    this.isChain = Uint8Array.from({ length: 2 ** tree.count }, (_, set) =>
      tree.isChain(set) ? 1 : 0,
    );
  }

  /** The blocks with a quorum certificate, from the sets that the three voted in one view. */
  certified(a: number, b: number, c: number): number {
    return atLeast(this.#quorumVotes, a, b, c);
  }

  /** The blocks that all voted. */
  fast(a: number, b: number, c: number): number {
    return atLeast(this.#fastVotes, a, b, c);
  }

  /** The blocks final by Commits, from the sets that each of the three committed in one view. */
  slow(a: number, b: number, c: number): number {
    const key = (((a << this.#tree.count) | b) << this.#tree.count) | c;
    const known = this.#slow[key]!;
    if (known !== -1) return known;
    const found = this.#slowSet([a, b, c]);
    this.#slow[key] = found;
    return found;
  }

  #slowSet(committed: readonly number[]): number {
    const commits = committed.flatMap((set, sender) =>
      this.#tree.refs
        .filter((_, block) => ((set >> block) & 1) === 1)
        .map((block) => ({ sender, block })),
    );
    let set = 0;
    for (let block = 0; block < this.#tree.count; block++) {
      const all = [...commits, { sender: BYZANTINE, block: this.#tree.refs[block]! }];
      const final = slowFinal(all, QUORUM, (x, y) =>
        this.#tree.isAncestor(this.#tree.numberOf(x), this.#tree.numberOf(y)),
      );
      if (final !== undefined) set |= 1 << this.#tree.numberOf(final);
    }
    return set;
  }
}

function leastVotes(isEnough: (count: number) => boolean): number {
  for (let correct = 0; correct <= CORRECT_COUNT; correct++)
    if (isEnough(correct + 1)) return correct;
  return CORRECT_COUNT + 1;
}

/** The elements of at least `least` of three sets. */
function atLeast(least: number, a: number, b: number, c: number): number {
  switch (least) {
    case 0:
      return -1;
    case 1:
      return a | b | c;
    case 2:
      return (a & b) | (a & c) | (b & c);
    case 3:
      return a & b & c;
    default:
      return 0;
  }
}

import type { BlockRef } from "../../src/consensus/block.ts";
import type { BlockNumber, BlockShape } from "./bound.ts";

/** The blocks of a bound with their ancestry, as the production functions want to see them. */
export class BlockTree {
  readonly count: number;
  readonly shapes: readonly BlockShape[];
  readonly refs: readonly BlockRef[];
  /** Bit b of entry a: a is b or an ancestor of b. */
  readonly #descendants: readonly number[];
  readonly #numbers: ReadonlyMap<string, BlockNumber>;

  constructor(blocks: readonly BlockShape[]) {
    this.count = blocks.length;
    this.shapes = blocks;
    const descendants = blocks.map(() => 0);
    this.refs = blocks.map((_, number) => {
      let height = 0;
      for (let at = number; ; at = blocks[at]!.parent) {
        descendants[at]! |= 1 << number;
        if (at === 0) break;
        height += 1;
      }
      return { height, hash: `0x${number.toString(16).padStart(64, "0")}` };
    });
    this.#descendants = descendants;
    this.#numbers = new Map(this.refs.map(({ hash }, number) => [hash, number]));
  }

  isAncestor(a: BlockNumber, b: BlockNumber): boolean {
    return ((this.#descendants[a]! >> b) & 1) === 1;
  }

  isOnOneChain(a: BlockNumber, b: BlockNumber): boolean {
    return this.isAncestor(a, b) || this.isAncestor(b, a);
  }

  /** Whether the block is in the set or an ancestor of a block in it. */
  isBelow(block: BlockNumber, set: number): boolean {
    return (this.#descendants[block]! & set) !== 0;
  }

  /** The set of the block's ancestors, itself excluded. */
  ancestorsOf(block: BlockNumber): number {
    let set = 0;
    for (let at = block; at !== 0;) {
      at = this.shapes[at]!.parent;
      set |= 1 << at;
    }
    return set;
  }

  numberOf(ref: BlockRef): BlockNumber {
    return this.#numbers.get(ref.hash)!;
  }

  /** The blocks above `from` up to and including `to`; empty unless `to` descends from `from`. */
  path(from: BlockNumber, to: BlockNumber): readonly BlockRef[] {
    const path: BlockRef[] = [];
    if (!this.isAncestor(from, to)) return path;
    for (let at = to; at !== from; at = this.shapes[at]!.parent) path.unshift(this.refs[at]!);
    return path;
  }

  /** The highest block of a set. A set that is no chain has no single highest: then any of them. */
  highest(set: number): BlockNumber {
    let best = 0;
    for (let block = 1; block < this.count; block++) {
      const isHigher = this.refs[block]!.height >= this.refs[best]!.height;
      if (((set >> block) & 1) === 1 && isHigher) best = block;
    }
    return best;
  }

  /** Whether all blocks of a set lie on one chain. */
  isChain(set: number): boolean {
    for (let a = 0; a < this.count; a++) {
      for (let b = a + 1; b < this.count; b++) {
        const hasBoth = ((set >> a) & (set >> b) & 1) === 1;
        if (hasBoth && !this.isOnOneChain(a, b)) return false;
      }
    }
    return true;
  }

  /** Whether a boundary of `epoch` lies strictly below the block (PROTOCOL §9.3). */
  isAboveBoundary(block: BlockNumber, epoch: number): boolean {
    for (let at = block; at !== 0;) {
      at = this.shapes[at]!.parent;
      const shape = this.shapes[at]!;
      if (shape.isBoundary && shape.epoch === epoch) return true;
    }
    return false;
  }

  /** The block that an epoch starts from. */
  baseOfEpoch(epoch: number): BlockNumber {
    if (epoch === 0) return 0;
    return this.shapes.findIndex((shape) => shape.isBoundary && shape.epoch === epoch - 1);
  }
}

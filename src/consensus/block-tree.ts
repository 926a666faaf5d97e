/**
 * The blocks above the final one, with their bodies, and the headers of the last final ones.
 * Bodies survive view changes: what one view fetched, the next may need (PROTOCOL §6.4).
 */
import { invariant } from "../base/invariant.ts";
import type { Block, BlockRef, Hash, ChainLink } from "./block.ts";
import type { RejectionCode } from "./rejection.ts";

export type TreeBlock = {
  readonly block: Block;
  /** Why the body can never be voted for, found once when it came in. */
  readonly fault: RejectionCode | undefined;
  /** Whether a log record holds it. */
  isLogged: boolean;
};

export class BlockTree {
  readonly #blocksMax: number;
  readonly #finalLinksMax: number;
  readonly #blocks = new Map<Hash, TreeBlock>();
  readonly #finalByHeight = new Map<number, ChainLink>();
  #final: ChainLink;

  constructor(
    final: ChainLink,
    limits: { readonly blocksMax: number; readonly finalLinksMax: number },
  ) {
    this.#blocksMax = limits.blocksMax;
    this.#finalLinksMax = limits.finalLinksMax;
    this.#final = final;
    this.#finalByHeight.set(final.height, final);
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(hash: Hash): TreeBlock | undefined {
    return this.#blocks.get(hash);
  }

  /** The header of an unfinalized block or of one of the last final ones. */
  link(ref: BlockRef): ChainLink | undefined {
    const held = this.#blocks.get(ref.hash);
    if (held !== undefined) {
      return { height: held.block.header.height, hash: ref.hash, header: held.block.header };
    }
    const link = this.#finalByHeight.get(ref.height);
    return link?.hash === ref.hash ? link : undefined;
  }

  finalLink(height: number): ChainLink | undefined {
    return this.#finalByHeight.get(height);
  }

  /**
   * Keeps a block. When full, the oldest block that nothing of ours depends on makes room; if all
   * are needed the new one is not kept and false is returned.
   */
  add(block: Block, fault: RejectionCode | undefined, needed: () => ReadonlySet<Hash>): boolean {
    if (this.#blocks.has(block.hash)) return true;
    if (this.#blocks.size >= this.#blocksMax && !this.#evict(needed())) return false;
    this.#blocks.set(block.hash, { block, fault, isLogged: false });
    return true;
  }

  /** Keeps a block below a finality certificate; it is made final in the same step. */
  addCertified(block: Block): void {
    if (!this.#blocks.has(block.hash)) {
      this.#blocks.set(block.hash, { block, fault: undefined, isLogged: false });
    }
  }

  /** The blocks above the final one up to `hash`, lowest first; undefined when one is missing. */
  pathTo(hash: Hash): readonly TreeBlock[] | undefined {
    const path: TreeBlock[] = [];
    let at = hash;
    while (at !== this.#final.hash) {
      const held = this.#blocks.get(at);
      if (held === undefined) return undefined;
      path.push(held);
      at = held.block.header.parent;
    }
    return path.reverse();
  }

  /** Whether `a` is `b` or an ancestor of it, as far as the kept headers tell. */
  isAncestor(a: BlockRef, b: BlockRef): boolean {
    let hash = b.hash;
    let height = b.height;
    while (height > a.height && height > this.#final.height) {
      const held = this.#blocks.get(hash);
      if (held === undefined) return false;
      hash = held.block.header.parent;
      height -= 1;
    }
    if (height === a.height && hash === a.hash) return true;
    // From here on only the final chain leads further down.
    return (
      this.#finalByHeight.get(height)?.hash === hash &&
      this.#finalByHeight.get(a.height)?.hash === a.hash &&
      a.height <= height
    );
  }

  /** Makes a path that starts right above the final block final and forgets everything below. */
  finalize(path: readonly TreeBlock[]): void {
    for (const { block } of path) {
      invariant(block.header.parent === this.#final.hash, "finality advances along one chain");
      this.#final = { height: block.header.height, hash: block.hash, header: block.header };
      this.#finalByHeight.set(this.#final.height, this.#final);
      this.#finalByHeight.delete(this.#final.height - this.#finalLinksMax);
    }
    for (const [hash, { block }] of this.#blocks) {
      if (block.header.height <= this.#final.height) this.#blocks.delete(hash);
    }
  }

  /** Stands on a final block read from the log; knows nothing else. */
  restart(final: ChainLink): void {
    this.#blocks.clear();
    this.#finalByHeight.clear();
    this.#final = final;
    this.#finalByHeight.set(final.height, final);
  }

  /** Says which blocks the log holds from now on; all others must be written again if needed. */
  markLogged(hashes: ReadonlySet<Hash>): void {
    for (const held of this.#blocks.values()) held.isLogged = hashes.has(held.block.hash);
  }

  /** Forgets all unfinalized blocks: those of a past epoch can never become final. */
  clear(): void {
    this.#blocks.clear();
  }

  #evict(needed: ReadonlySet<Hash>): boolean {
    for (const hash of this.#blocks.keys()) {
      if (needed.has(hash)) continue;
      this.#blocks.delete(hash);
      return true;
    }
    return false;
  }
}

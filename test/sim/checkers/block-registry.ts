/** Every header that anyone ever showed: the checkers' own knowledge of what descends from what. */
import type { BlockRef, Hash, Header } from "../../../src/consensus/block.ts";

export class BlockRegistry {
  readonly #headers = new Map<Hash, Header>();
  readonly #hashHeader: (header: Header) => Hash;

  constructor(genesis: Header, hashHeader: (header: Header) => Hash) {
    this.#hashHeader = hashHeader;
    this.addHeader(genesis);
  }

  addHeader(header: Header): Hash {
    const hash = this.#hashHeader(header);
    this.add(hash, header);
    return hash;
  }

  /** For a header whose hash was already computed by code that is under test elsewhere. */
  add(hash: Hash, header: Header): void {
    if (!this.#headers.has(hash)) this.#headers.set(hash, header);
  }

  header(hash: Hash): Header | undefined {
    return this.#headers.get(hash);
  }

  /** The ancestor of `hash` at `height`, itself included; undefined if the path is unknown. */
  ancestorAt(hash: Hash, height: number): Hash | undefined {
    let at = hash;
    for (;;) {
      const header = this.#headers.get(at);
      if (header === undefined || header.height < height) return undefined;
      if (header.height === height) return at;
      at = header.parent;
    }
  }

  isAncestor(ancestor: BlockRef, descendant: Hash): boolean {
    return this.ancestorAt(descendant, ancestor.height) === ancestor.hash;
  }

  /** Blocks below `height` will not be asked for again. */
  forgetBelow(height: number): void {
    for (const [hash, header] of this.#headers) {
      if (header.height < height) this.#headers.delete(hash);
    }
  }

  /** Blocks above `height` that are not on the chain of `hash`. */
  forksAbove(height: number, hash: Hash, limit: number): readonly Hash[] {
    const forks: Hash[] = [];
    for (const [candidate, header] of this.#headers) {
      if (header.height <= height || forks.length >= limit) continue;
      const isOnChain =
        this.isAncestor({ height: header.height, hash: candidate }, hash) ||
        this.ancestorAt(candidate, height) === undefined;
      if (!isOnChain) forks.push(candidate);
    }
    return forks;
  }

  size(): number {
    return this.#headers.size;
  }
}

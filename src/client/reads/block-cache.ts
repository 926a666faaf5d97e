/** Blocks that were read last, bounded by what the store holds of them: full ones are few. */
import type { StoredBlockRecord } from "./block-record.ts";

export type CachedBlock = Pick<StoredBlockRecord, "storedSize">;

export type BlockCacheOptions = {
  readonly blocksMax: number;
  /** Of encoded blocks and receipts. Decoded, they take a few times as much. */
  readonly bytesMax: number;
};

export class BlockCache<Block extends CachedBlock> {
  readonly #options: BlockCacheOptions;
  /** By consensus height, the most recently used last. */
  readonly #blocks = new Map<number, Block>();
  #bytes = 0;

  constructor(options: BlockCacheOptions) {
    this.#options = options;
  }

  get(height: number): Block | undefined {
    const block = this.#blocks.get(height);
    if (block === undefined) return undefined;
    this.#blocks.delete(height);
    this.#blocks.set(height, block);
    return block;
  }

  /** One that is not there yet. */
  add(height: number, block: Block): void {
    const { blocksMax, bytesMax } = this.#options;
    this.#blocks.set(height, block);
    this.#bytes += block.storedSize;
    for (const [oldest, { storedSize }] of this.#blocks) {
      if (this.#bytes <= bytesMax && this.#blocks.size <= blocksMax) return;
      this.#blocks.delete(oldest);
      this.#bytes -= storedSize;
    }
  }
}

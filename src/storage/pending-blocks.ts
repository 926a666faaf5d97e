import type { BlockFields, Indexes, TransactionPosition } from "./stored-block.ts";

export type PendingBlock = { readonly fields: BlockFields; readonly indexes: Indexes | undefined };

/** Blocks that are not on the disk yet, and can be found like those that are. */
export class PendingBlocks {
  readonly #blocks = new Map<number, PendingBlock>();
  readonly #heights = new Map<string, number>();
  readonly #positions = new Map<string, TransactionPosition>();
  #size = 0;
  #latest = -1;

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#blocks.size;
  }

  /** The highest height that has its block here, or -1. */
  get latest(): number {
    return this.#latest;
  }

  isEmpty(): boolean {
    return this.#blocks.size === 0;
  }

  blocks(): Iterable<[number, PendingBlock]> {
    return this.#blocks;
  }

  put(height: number, fields: BlockFields, indexes: Indexes | undefined): void {
    const before = this.#blocks.get(height);
    this.#blocks.set(height, {
      fields: { ...before?.fields, ...fields },
      indexes: indexes ?? before?.indexes,
    });
    this.#size += byteSize(fields);
    if (fields.block !== undefined) this.#latest = Math.max(this.#latest, height);
    if (indexes === undefined) return;
    this.#heights.set(hashText(indexes.blockHash), height);
    indexes.transactionHashes.forEach((hash, index) => {
      this.#positions.set(hashText(hash), { height, index });
      this.#size += hash.length;
    });
  }

  /** What is in `newer` wins. */
  absorb(newer: PendingBlocks): void {
    for (const [height, { fields, indexes }] of newer.#blocks) this.put(height, fields, indexes);
  }

  get(height: number, field: keyof BlockFields): Uint8Array | undefined {
    return this.#blocks.get(height)?.fields[field];
  }

  heightOf(blockHash: Uint8Array): number | undefined {
    return this.#heights.size === 0 ? undefined : this.#heights.get(hashText(blockHash));
  }

  positionOf(transactionHash: Uint8Array): TransactionPosition | undefined {
    return this.#positions.size === 0 ? undefined : this.#positions.get(hashText(transactionHash));
  }
}

export function byteSize(fields: BlockFields): number {
  const { block, certificate, result, votes, ethereumBlock, receipts } = fields;
  let size = 0;
  for (const part of [block, certificate, result, votes, ethereumBlock, receipts]) {
    size += part?.length ?? 0;
  }
  return size;
}

/** A character for each byte. Asked for its `buffer`, a small array would be moved out of the heap. */
function hashText(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

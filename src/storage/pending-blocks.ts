import { invariant } from "../base/invariant.ts";
import type { BlockWrite } from "./block-tables.ts";
import type { BlockFields, Indexes, TransactionPosition } from "./stored-block.ts";

const HASH_SIZE = 32;

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

  /** Copies that can be given away. */
  writes(): BlockWrite[] {
    return Array.from(this.#blocks, ([height, { fields, indexes }]) => {
      return { height, fields: copyFields(fields), hashes: indexes && packHashes(indexes) };
    });
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

function copyFields(fields: BlockFields): BlockFields {
  const { block, certificate, result, votes, ethereumBlock, receipts } = fields;
  return {
    ...(block !== undefined && { block: new Uint8Array(block) }),
    ...(certificate !== undefined && { certificate: new Uint8Array(certificate) }),
    ...(result !== undefined && { result: new Uint8Array(result) }),
    ...(votes !== undefined && { votes: new Uint8Array(votes) }),
    ...(ethereumBlock !== undefined && { ethereumBlock: new Uint8Array(ethereumBlock) }),
    ...(receipts !== undefined && { receipts: new Uint8Array(receipts) }),
  };
}

function packHashes({ blockHash, transactionHashes }: Indexes): Uint8Array {
  const hashes = [blockHash, ...transactionHashes];
  const packed = new Uint8Array(hashes.length * HASH_SIZE);
  hashes.forEach((hash, index) => {
    invariant(hash.length === HASH_SIZE, "indexes are over hashes of 32 bytes");
    packed.set(hash, index * HASH_SIZE);
  });
  return packed;
}

/** A character for each byte. Asked for its `buffer`, a small array would be moved out of the heap. */
function hashText(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

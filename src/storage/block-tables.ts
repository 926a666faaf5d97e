/** The tables of the block store in LMDB: one per field, by height, and one per index. */
import type { BlockFields, TransactionPosition } from "./stored-block.ts";
import { entryCount, type LmdbEnvironment, type Table } from "./lmdb-environment.ts";

const HASH_SIZE = 32;
const HEIGHT_SIZE = 6;
const POSITION_SIZE = HEIGHT_SIZE + 4;

/** What is written of one height. Each array has memory of its own and can change its thread. */
export type BlockWrite = {
  readonly height: number;
  readonly fields: BlockFields;
  /** Of the block, then of its transactions, under which they are to be found. */
  readonly hashes: Uint8Array | undefined;
};

/** Reads on any thread; `write`, `remove` and `clear` wait for the disk. */
export class BlockTables {
  readonly #fields: Readonly<Record<keyof BlockFields, Table>>;
  readonly #heights: Table;
  readonly #positions: Table;
  /** By height, the hashes under which the block is indexed, to take them out with it. */
  readonly #indexed: Table;

  constructor(environment: LmdbEnvironment) {
    this.#fields = {
      block: environment.table("block"),
      certificate: environment.table("certificate"),
      result: environment.table("result"),
      votes: environment.table("votes"),
      ethereumBlock: environment.table("ethereum-block"),
      receipts: environment.table("receipts"),
    };
    this.#heights = environment.table("height-by-block-hash");
    this.#positions = environment.table("position-by-transaction-hash");
    this.#indexed = environment.table("indexed-hashes");
  }

  oldest(): number | undefined {
    for (const key of this.#fields.block.getKeys({ limit: 1 })) return keyToHeight(key);
    return undefined;
  }

  latest(): number | undefined {
    const last = this.#fields.block.getKeys({ limit: 1, reverse: true });
    for (const key of last) return keyToHeight(key);
    return undefined;
  }

  isConsecutive(): boolean {
    const [oldest, latest] = [this.oldest(), this.latest()];
    if (oldest === undefined || latest === undefined) return true;
    return entryCount(this.#fields.block) === latest - oldest + 1;
  }

  get(height: number, field: keyof BlockFields): Uint8Array | undefined {
    return this.#fields[field].get(heightToKey(height));
  }

  heightOf(blockHash: Uint8Array): number | undefined {
    const key = this.#heights.get(blockHash);
    return key === undefined ? undefined : keyToHeight(key);
  }

  positionOf(transactionHash: Uint8Array): TransactionPosition | undefined {
    const value = this.#positions.get(transactionHash);
    if (value === undefined) return undefined;
    const bytes = Buffer.from(value);
    return { height: keyToHeight(bytes), index: bytes.readUInt32BE(HEIGHT_SIZE) };
  }

  /** Reads of this thread see what another thread has written before this call. */
  refresh(): void {
    this.#fields.block.resetReadTxn();
  }

  /** In one transaction, durable when it returns. */
  write(blocks: readonly BlockWrite[]): void {
    this.#fields.block.transactionSync(() => {
      for (const { height, fields, hashes } of blocks) {
        const key = heightToKey(height);
        for (const [name, table] of this.#tables()) {
          const value = fields[name];
          if (value !== undefined) table.putSync(key, value);
        }
        if (hashes === undefined) continue;
        this.#indexed.putSync(key, hashes);
        this.#heights.putSync(hashes.slice(0, HASH_SIZE), key);
        for (let index = 0; (index + 1) * HASH_SIZE < hashes.length; index++) {
          const hash = hashes.slice((index + 1) * HASH_SIZE, (index + 2) * HASH_SIZE);
          this.#positions.putSync(hash, encodePosition({ height, index }));
        }
      }
    });
  }

  /** The heights from `from` up to and not including `end`, in one transaction. */
  remove(from: number, end: number): void {
    this.#fields.block.transactionSync(() => {
      for (let height = from; height < end; height++) {
        const key = heightToKey(height);
        this.#removeIndexes(height, this.#indexed.get(key));
        this.#indexed.removeSync(key);
        for (const [, table] of this.#tables()) table.removeSync(key);
      }
    });
  }

  clear(): void {
    const tables = this.#tables().map(([, table]) => table);
    const all = [...tables, this.#heights, this.#positions, this.#indexed];
    this.#fields.block.transactionSync(() => {
      for (const table of all) table.clearSync();
    });
  }

  #removeIndexes(height: number, indexed: Uint8Array | undefined): void {
    if (indexed === undefined) return;
    this.#heights.removeSync(indexed.slice(0, HASH_SIZE));
    for (let offset = HASH_SIZE; offset < indexed.length; offset += HASH_SIZE) {
      const hash = indexed.slice(offset, offset + HASH_SIZE);
      // A hash that a later block has too stays.
      if (this.positionOf(hash)?.height === height) this.#positions.removeSync(hash);
    }
  }

  #tables(): [keyof BlockFields, Table][] {
    const { block, certificate, result, votes, ethereumBlock, receipts } = this.#fields;
    return [
      ["block", block],
      ["certificate", certificate],
      ["result", result],
      ["votes", votes],
      ["ethereumBlock", ethereumBlock],
      ["receipts", receipts],
    ];
  }
}

/** Big-endian, so that the order of the keys is that of the heights. */
function heightToKey(height: number): Uint8Array {
  const key = Buffer.alloc(HEIGHT_SIZE);
  key.writeUIntBE(height, 0, HEIGHT_SIZE);
  return key;
}

function keyToHeight(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(0, HEIGHT_SIZE);
}

function encodePosition({ height, index }: TransactionPosition): Uint8Array {
  // From the pool: the library needs memory outside of the heap, and its address.
  const value = Buffer.allocUnsafe(POSITION_SIZE);
  value.writeUIntBE(height, 0, HEIGHT_SIZE);
  value.writeUInt32BE(index, HEIGHT_SIZE);
  return value;
}

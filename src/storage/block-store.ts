/**
 * Final blocks by height, without gaps, and what belongs to each: its certificate, its result, and
 * for a client node the Ethereum block, receipts and the indexes over hashes. All are opaque bytes.
 *
 * Blocks are written behind, several in one transaction of another thread, and read through what
 * waits: no caller waits for the disk. What a crash loses is in the log or at the other replicas:
 * `durableHeight` says how far the log may be shortened.
 */
import { CodedError } from "../base/coded-error.ts";
import { invariant } from "../base/invariant.ts";
import { BlockTables } from "./block-tables.ts";
import { BlockWriter } from "./block-writer.ts";
import { DiskSpace, type DiskSpaceOptions } from "./disk-space.ts";
import { isFullDisk, type LmdbEnvironment, openEnvironment } from "./lmdb-environment.ts";
import { byteSize, PendingBlocks } from "./pending-blocks.ts";
import type { BlockFields, Indexes, StoredBlock, TransactionPosition } from "./stored-block.ts";

export type BlockStoreOptions = DiskSpaceOptions & {
  /** How long a block may wait for others to be written with. */
  readonly flushDelayMs?: number;
  /** With this much waiting, the writing begins at once. */
  readonly flushBytes?: number;
  /** With this much waiting, blocks are refused: the disk is full or far too slow. */
  readonly pendingBytesMax?: number;
  /**
   * A write failed for another reason than space. The store accepts no more writes; the node should
   * stop.
   */
  readonly onFailure?: (error: CodedError) => void;
};

const OPENING = { damagedCode: "BLOCK_STORE_DAMAGED" } as const;
const DEFAULT_FLUSH_DELAY_MS = 200;
const DEFAULT_FLUSH_BYTES = 4 * 1024 * 1024;
const DEFAULT_PENDING_BYTES_MAX = 64 * 1024 * 1024;
const PRUNE_BATCH = 1_000;
/** Every value may need a page of its own. */
const PAGE_BYTES_PER_BLOCK = 64 * 1024;

export class BlockStore {
  readonly #path: string;
  readonly #options: BlockStoreOptions;
  readonly #environment: LmdbEnvironment;
  readonly #tables: BlockTables;
  readonly #writer: BlockWriter;
  readonly #space: DiskSpace;
  /** What waits, and what LMDB is writing. Reads look here first, newest first. */
  #waiting = new PendingBlocks();
  #writing = new PendingBlocks();
  #latest: number | undefined;
  #durable: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failure: CodedError | undefined;

  private constructor(path: string, options: BlockStoreOptions, environment: LmdbEnvironment) {
    this.#path = path;
    this.#options = options;
    this.#environment = environment;
    this.#tables = new BlockTables(environment);
    this.#writer = new BlockWriter(path);
    this.#space = new DiskSpace(path, options);
    this.#latest = this.#tables.latest();
    this.#durable = this.#latest;
  }

  /** Throws BLOCK_STORE_DAMAGED: remove it and fetch the blocks from the other replicas. */
  static async open(path: string, options: BlockStoreOptions = {}): Promise<BlockStore> {
    const environment = await openEnvironment(path, OPENING, (opened) => {
      if (new BlockTables(opened).isConsecutive()) return;
      throw new CodedError("BLOCK_STORE_DAMAGED", { path, reason: "blocks are missing" });
    });
    return new BlockStore(path, options, environment);
  }

  /** The lowest height that is kept, or undefined if there is none on the disk. */
  get oldestHeight(): number | undefined {
    return this.#tables.oldest();
  }

  get latestHeight(): number | undefined {
    return this.#latest;
  }

  /** All up to this height survives a crash. */
  get durableHeight(): number | undefined {
    return this.#durable;
  }

  get pendingBytes(): number {
    return this.#waiting.size + this.#writing.size;
  }

  /** Nothing is written until there is room again; reads go on. */
  get isFull(): boolean {
    return this.#space.isFull;
  }

  /**
   * Takes the next block; a height that is there already is ignored, because the log brings it
   * again after a restart. An empty store takes any height as its first.
   */
  append(height: number, fields: BlockFields & { readonly block: Uint8Array }): void {
    if (this.#latest !== undefined && height <= this.#latest) return;
    const isNext = this.#latest === undefined || height === this.#latest + 1;
    invariant(isNext, "blocks are stored without a gap");
    this.#put(height, fields, undefined);
    this.#latest = height;
  }

  /** Adds to a block that is there: its result, its certificate, its Ethereum form. */
  attach(height: number, fields: BlockFields, indexes?: Indexes): void {
    invariant(this.#latest !== undefined && height <= this.#latest, "the block is in the store");
    this.#put(height, fields, indexes);
  }

  get(height: number, field: keyof BlockFields): Uint8Array | undefined {
    const pending = this.#waiting.get(height, field) ?? this.#writing.get(height, field);
    return pending ?? this.#tables.get(height, field);
  }

  /**
   * Consecutive blocks with their certificates from `from` to at most `to`, and not more than
   * `bytesMax` but always one if there is one.
   */
  *range(from: number, to: number, bytesMax: number): Generator<StoredBlock> {
    let bytes = 0;
    for (let height = from; height <= to; height++) {
      const block = this.get(height, "block");
      if (block === undefined) return;
      const certificate = this.get(height, "certificate");
      bytes += byteSize({ block, ...(certificate !== undefined && { certificate }) });
      if (bytes > bytesMax && height > from) return;
      yield { height, block, ...(certificate !== undefined && { certificate }) };
    }
  }

  heightOf(blockHash: Uint8Array): number | undefined {
    const pending = this.#waiting.heightOf(blockHash) ?? this.#writing.heightOf(blockHash);
    return pending ?? this.#tables.heightOf(blockHash);
  }

  positionOf(transactionHash: Uint8Array): TransactionPosition | undefined {
    const waiting = this.#waiting.positionOf(transactionHash);
    const pending = waiting ?? this.#writing.positionOf(transactionHash);
    return pending ?? this.#tables.positionOf(transactionHash);
  }

  /** Resolves when everything given before the call is durable. Rejects with what failed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#flushing !== undefined) await this.#flushing;
    if (this.#waiting.isEmpty()) return;
    this.#flushing = this.#write();
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
      if (this.isFull) this.#schedule(this.#space.retryMs);
    }
  }

  /** Forgets the blocks below this height, but never the last one. Resolves when they are gone. */
  async pruneBelow(height: number): Promise<void> {
    await this.flush();
    const end = Math.min(height, this.#durable ?? 0);
    for (let from = this.#tables.oldest() ?? end; from < end; from += PRUNE_BATCH) {
      await this.#carryOut(() => this.#writer.remove(from, Math.min(end, from + PRUNE_BATCH)));
    }
  }

  /** Forgets everything: the next block may have any height. For a state taken from a snapshot. */
  async clear(): Promise<void> {
    await this.flush();
    await this.#carryOut(() => this.#writer.clear());
    this.#latest = undefined;
    this.#durable = undefined;
  }

  /** Writes what waits, if it can. */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      clearTimeout(this.#timer);
      await this.#writer.close();
      await this.#environment.close();
    }
  }

  #put(height: number, fields: BlockFields, indexes: Indexes | undefined): void {
    if (this.#failure !== undefined) throw this.#failure;
    const { pendingBytesMax = DEFAULT_PENDING_BYTES_MAX } = this.#options;
    if (this.pendingBytes > pendingBytesMax) {
      throw new CodedError("DISK_FULL", { path: this.#path, pendingBytes: this.pendingBytes });
    }
    this.#waiting.put(height, fields, indexes);
    const { flushBytes = DEFAULT_FLUSH_BYTES } = this.#options;
    const { flushDelayMs = DEFAULT_FLUSH_DELAY_MS } = this.#options;
    this.#schedule(this.#waiting.size > flushBytes && !this.isFull ? 0 : flushDelayMs);
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined && delayMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Failures are reported through onFull and onFailure, and a full disk is tried again.
      this.flush().catch(() => undefined);
    }, delayMs);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    this.#writing = this.#waiting;
    this.#waiting = new PendingBlocks();
    const { latest } = this.#writing;
    try {
      await this.#carryOut(() => this.#writer.write(this.#writing.writes()));
    } catch (error) {
      this.#writing.absorb(this.#waiting);
      this.#waiting = this.#writing;
      throw error;
    } finally {
      this.#writing = new PendingBlocks();
    }
    if (latest > (this.#durable ?? -1)) this.#durable = latest;
  }

  /** One transaction; a full disk and a broken one give different errors. */
  async #carryOut(write: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#space.assertRoom();
    try {
      await write();
      this.#tables.refresh();
    } catch (error) {
      const needed = this.#writing.count * PAGE_BYTES_PER_BLOCK + this.#writing.size;
      if (isFullDisk(error, this.#space.isLow(needed))) this.#space.refuse(error);
      this.#failure = new CodedError("BLOCK_STORE_WRITE_FAILED", { path: this.#path }, error);
      this.#options.onFailure?.(this.#failure);
      throw this.#failure;
    }
    this.#space.noteRoom();
  }
}

/**
 * What searches for logs keep in memory of blocks that they saw: the filter of each block, and of
 * those that may have what was asked for also the logs, with the text of those that were given out.
 * Blocks are final and never change. Both kinds are bounded; the oldest go first.
 */
import { prunedBlock } from "../params/block-tag.ts";
import type { Log } from "../../chain/bloom.ts";
import type { BlockReader, BlockRecord, ReceiptsReader } from "../../api/chain-reader.ts";
import { formatLog } from "../format/format-log.ts";

export type LogsReader = BlockReader & ReceiptsReader;

export type LogCacheOptions = {
  readonly bloomBytesMax: number;
  readonly logBytesMax: number;
};

export type CachedBlockLogs = {
  /** Undefined if the block has no logs. */
  readonly bloom: Uint8Array | undefined;
  /** Undefined before their first use, and after their eviction. */
  logs: readonly CachedLog[] | undefined;
};

export type CachedLog = {
  readonly log: Log;
  readonly transactionIndex: number;
  /** Counted over the whole block. */
  readonly logIndex: number;
  /** As it is sent; undefined before its first use. */
  text: string | undefined;
};

export const DEFAULT_LOG_CACHE: LogCacheOptions = {
  bloomBytesMax: 16_000_000,
  logBytesMax: 32_000_000,
};

/** What the engine needs beside the bytes themselves, roughly. */
const BLOCK_OVERHEAD = 128;
const LOG_OVERHEAD = 256;
const WORD_SIZE = 64;

export class LogCache {
  readonly #options: LogCacheOptions;
  readonly #reader: LogsReader;
  /** By block number, in the order of their coming. */
  readonly #blocks = new Map<number, CachedBlockLogs>();
  #bloomBytes = 0;
  /** The blocks of which there are logs, with what these take up. */
  readonly #logBytesOf = new Map<CachedBlockLogs, number>();
  #logBytes = 0;

  constructor(reader: LogsReader, options: LogCacheOptions = DEFAULT_LOG_CACHE) {
    this.#reader = reader;
    this.#options = options;
  }

  get bloomBytes(): number {
    return this.#bloomBytes;
  }

  get logBytes(): number {
    return this.#logBytes;
  }

  /** Undefined if it is not in memory. */
  find(number: number): CachedBlockLogs | undefined {
    return this.#blocks.get(number);
  }

  keep(block: BlockRecord): CachedBlockLogs {
    const number = Number(block.header.number);
    const found = this.#blocks.get(number);
    if (found !== undefined) return found;
    const { logsBloom } = block.header;
    const hasLogs = logsBloom.some((byte) => byte !== 0);
    // A copy: the original may be a view into the whole block.
    const kept: CachedBlockLogs = {
      bloom: hasLogs ? logsBloom.slice() : undefined,
      logs: undefined,
    };
    this.#blocks.set(number, kept);
    this.#bloomBytes += bloomBytesOf(kept);
    while (this.#bloomBytes > this.#options.bloomBytesMax) this.#dropOldestBlock();
    return kept;
  }

  /** Throws RpcError if the receipts are no longer there. */
  async load(kept: CachedBlockLogs, block: BlockRecord): Promise<readonly CachedLog[]> {
    const receipts = await this.#reader.receiptsOf(block);
    if (receipts === undefined) throw prunedBlock(block);
    const logs: CachedLog[] = [];
    let bytes = 0;
    for (const [transactionIndex, receipt] of receipts.entries()) {
      for (const { address, topics, data } of receipt.logs) {
        // A copy: a view would hold the receipts of the whole block.
        const log = { address, topics, data: data.slice() };
        logs.push({ log, transactionIndex, logIndex: logs.length, text: undefined });
        bytes += LOG_OVERHEAD + topics.length * WORD_SIZE + data.length;
      }
    }
    if (kept.logs === undefined && bytes <= this.#options.logBytesMax) {
      kept.logs = logs;
      this.#logBytesOf.set(kept, 0);
      this.#grow(kept, bytes);
    }
    return logs;
  }

  /** The text of a log of that block. */
  format(kept: CachedBlockLogs, one: CachedLog, block: BlockRecord): string {
    const { log, transactionIndex, logIndex } = one;
    const transactionHash = block.transactionHashes[transactionIndex] ?? new Uint8Array(0);
    const text = JSON.stringify(
      formatLog(log, { block, transactionIndex, transactionHash, logIndex }),
    );
    one.text = text;
    this.#grow(kept, text.length);
    return text;
  }

  #grow(kept: CachedBlockLogs, bytes: number): void {
    const before = this.#logBytesOf.get(kept);
    // Its logs were evicted; this search drops the rest of them.
    if (before === undefined) return;
    this.#logBytesOf.set(kept, before + bytes);
    this.#logBytes += bytes;
    for (const oldest of this.#logBytesOf.keys()) {
      if (this.#logBytes <= this.#options.logBytesMax) break;
      this.#dropLogs(oldest);
    }
  }

  #dropOldestBlock(): void {
    for (const [number, kept] of this.#blocks) {
      this.#blocks.delete(number);
      this.#bloomBytes -= bloomBytesOf(kept);
      this.#dropLogs(kept);
      return;
    }
  }

  #dropLogs(kept: CachedBlockLogs): void {
    const bytes = this.#logBytesOf.get(kept);
    if (bytes === undefined) return;
    this.#logBytesOf.delete(kept);
    this.#logBytes -= bytes;
    kept.logs = undefined;
  }
}

function bloomBytesOf({ bloom }: CachedBlockLogs): number {
  return BLOCK_OVERHEAD + (bloom?.length ?? 0);
}

/** The logs of a range of blocks that a filter admits. */
import { findBlock, requireBlock, UNKNOWN_BLOCK, type BlockTag } from "../params/block-tag.ts";
import type { BlockReader, BlockRecord } from "../../api/chain-reader.ts";
import { takeTurns } from "../server/event-loop-turn.ts";
import { KeptLogs, type KeptBlock, type KeptLogsOptions, type LogsReader } from "./log-cache.ts";
import { createBloomCheck, matchesLog, type LogCriteria, type LogFilter } from "./log-filter.ts";
import type { RpcLimits } from "../rpc-options.ts";
import { HISTORY_PRUNED, INVALID_PARAMS, LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";

/** The JSON text of each log. */
export type LogTexts = readonly string[];

/** Blocks that are in memory are looked at in groups: less than a turn takes. */
const BLOCKS_PER_TURN = 64;

export class LogSearch {
  readonly #reader: LogsReader;
  readonly #kept: KeptLogs;

  constructor(reader: LogsReader, options?: KeptLogsOptions) {
    this.#reader = reader;
    this.#kept = new KeptLogs(reader, options);
  }

  async find(filter: LogFilter, limits: RpcLimits): Promise<LogTexts> {
    const { blocks } = filter;
    if (blocks.kind === "hash") {
      const block = await requireBlock(this.#reader, blocks, UNKNOWN_BLOCK);
      return this.inBlock(block, filter, limits.logResultsMax);
    }
    const { first, last } = await resolveRange(this.#reader, blocks.from, blocks.to, limits);
    return this.inRange(first, last, filter, limits.logResultsMax);
  }

  /** Both ends included. */
  async inRange(
    first: bigint,
    last: bigint,
    criteria: LogCriteria,
    resultsMax: number,
  ): Promise<LogTexts> {
    const found = new Found(criteria, resultsMax);
    const mayMatch = createBloomCheck(criteria);
    const turn = takeTurns();
    const end = Number(last);
    for (let number = Number(first); number <= end; number++) {
      let kept = this.#kept.find(number);
      // Only what must be read costs enough to count each time.
      if (kept === undefined || number % BLOCKS_PER_TURN === 0) await turn();
      if (kept === undefined) kept = this.#kept.keep(await this.#block(number));
      if (kept.bloom === undefined || !mayMatch(kept.bloom)) continue;
      if (!found.addKept(kept)) await this.#addRead(found, kept, await this.#block(number));
    }
    return found.texts;
  }

  async inBlock(block: BlockRecord, criteria: LogCriteria, resultsMax: number): Promise<LogTexts> {
    const found = new Found(criteria, resultsMax);
    const kept = this.#kept.keep(block);
    if (kept.bloom === undefined || !createBloomCheck(criteria)(kept.bloom)) return found.texts;
    if (!found.addKept(kept)) await this.#addRead(found, kept, block);
    return found.texts;
  }

  async #addRead(found: Found, kept: KeptBlock, block: BlockRecord): Promise<void> {
    const logs = kept.logs ?? (await this.#kept.load(kept, block));
    for (const one of logs) {
      if (found.admits(one.log)) found.add(one.text ?? this.#kept.format(kept, one, block));
    }
  }

  async #block(number: number): Promise<BlockRecord> {
    const block = await findBlock(this.#reader, { kind: "number", number: BigInt(number) });
    if (block !== undefined) return block;
    const message = `block 0x${number.toString(16)} is no longer kept; start after it`;
    throw new RpcError(HISTORY_PRUNED, message);
  }
}

class Found {
  readonly texts: string[] = [];
  readonly #criteria: LogCriteria;
  readonly #resultsMax: number;

  constructor(criteria: LogCriteria, resultsMax: number) {
    this.#criteria = criteria;
    this.#resultsMax = resultsMax;
  }

  admits(log: Parameters<typeof matchesLog>[1]): boolean {
    return matchesLog(this.#criteria, log);
  }

  add(text: string): void {
    if (this.texts.length === this.#resultsMax) {
      throw new RpcError(LIMIT_EXCEEDED, "query returned too many results; ask in parts");
    }
    this.texts.push(text);
  }

  /** False, with nothing added, if not all of it is in memory as text. */
  addKept({ logs }: KeptBlock): boolean {
    if (logs === undefined) return false;
    const before = this.texts.length;
    for (const { log, text } of logs) {
      if (!this.admits(log)) continue;
      if (text === undefined) {
        this.texts.length = before;
        return false;
      }
      this.add(text);
    }
    return true;
  }
}

async function resolveRange(
  chain: BlockReader,
  from: BlockTag,
  to: BlockTag,
  { logBlocksMax }: RpcLimits,
): Promise<{ readonly first: bigint; readonly last: bigint }> {
  const latest = (await chain.latestBlock()).header.number;
  const first = numberOf(from, latest);
  const last = numberOf(to, latest);
  if (last > latest) {
    const message = `block range extends beyond current head block 0x${latest.toString(16)}`;
    throw new RpcError(INVALID_PARAMS, message);
  }
  if (first > last) {
    throw new RpcError(INVALID_PARAMS, "invalid block range: fromBlock is after toBlock");
  }
  if (last - first >= BigInt(logBlocksMax)) {
    const message = `block range too large: at most ${logBlocksMax} blocks; ask in parts`;
    throw new RpcError(LIMIT_EXCEEDED, message);
  }
  return { first, last };
}

/** What a tag means while `latest` is the latest block. */
export function numberOf(tag: BlockTag, latest: bigint): bigint {
  if (tag.kind === "number") return tag.number;
  return tag.kind === "name" && tag.name === "earliest" ? 0n : latest;
}

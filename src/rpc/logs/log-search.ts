/** The logs of a range of blocks that a filter admits. */
import { findBlock, requireBlock, UNKNOWN_BLOCK, type BlockTag } from "../params/block-tag.ts";
import type { Log } from "../../chain/bloom.ts";
import type { BlockReader, BlockRecord } from "../../api/chain-reader.ts";
import { takeTurns } from "../server/event-loop-turn.ts";
import { LogCache, type LogCacheOptions, type LogsReader } from "./log-cache.ts";
import { createBloomCheck, matchesLog, type LogCriteria, type LogFilter } from "./log-filter.ts";
import type { RpcLimits } from "../rpc-options.ts";
import {
  HISTORY_PRUNED,
  INVALID_PARAMS,
  LIMIT_EXCEEDED,
  RESPONSE_TOO_LARGE,
  RpcError,
} from "../rpc-error.ts";

/** The JSON text of each log. */
export type LogTexts = readonly string[];

/** Where a search goes on: so many logs of that block were given already. */
export type LogPlace = { readonly number: bigint; readonly skip: number };

export type LogPart = { readonly texts: LogTexts; readonly next: LogPlace };

/** What one answer may have. */
export type LogRoom = { readonly resultsMax: number; readonly lengthMax: number };

/** Blocks in memory are searched in groups: one takes less time than yielding does. */
const BLOCKS_PER_TURN = 64;
const LOGS_PER_TURN = 256;

export class LogSearch {
  readonly #reader: LogsReader;
  readonly #kept: LogCache;

  constructor(reader: LogsReader, options?: LogCacheOptions) {
    this.#reader = reader;
    this.#kept = new LogCache(reader, options);
  }

  async find(filter: LogFilter, limits: RpcLimits): Promise<LogTexts> {
    const { blocks } = filter;
    if (blocks.kind === "hash") {
      const block = await requireBlock(this.#reader, blocks, UNKNOWN_BLOCK);
      return this.inBlock(block, filter, limits.responseLengthMax);
    }
    const { first, last } = await resolveRange(this.#reader, blocks.from, blocks.to, limits);
    // A caller cannot ask for less than a block: only the size of the answer limits that.
    const resultsMax = first === last ? Infinity : limits.logResultsMax;
    const room = { resultsMax, lengthMax: limits.responseLengthMax };
    const { texts, next } = await this.part({ number: first, skip: 0 }, last, filter, room);
    if (next.number > last) return texts;
    if (texts.length < resultsMax) throw tooLarge();
    throw new RpcError(LIMIT_EXCEEDED, "query returned too many results; ask in parts");
  }

  /** From that place up to and with the last block, or as much as there is room for. */
  async part(from: LogPlace, last: bigint, criteria: LogCriteria, room: LogRoom): Promise<LogPart> {
    const found = new Found(criteria, room, from.skip);
    const mayMatch = createBloomCheck(criteria);
    const turn = takeTurns();
    const end = Number(last);
    for (let number = Number(from.number); number <= end; number++) {
      let kept = this.#kept.find(number);
      // Only what must be read costs enough to count each time.
      if (kept === undefined || number % BLOCKS_PER_TURN === 0) await turn();
      if (kept === undefined) kept = this.#kept.keep(await this.#block(number));
      if (kept.bloom === undefined || !mayMatch(kept.bloom)) continue;
      let block: BlockRecord | undefined;
      const logs = kept.logs ?? (await this.#kept.load(kept, (block = await this.#block(number))));
      found.startBlock();
      for (const [index, one] of logs.entries()) {
        if (index % LOGS_PER_TURN === LOGS_PER_TURN - 1) await turn();
        if (!found.admits(one.log)) continue;
        const text =
          one.text ?? this.#kept.format(kept, one, (block ??= await this.#block(number)));
        if (!found.add(text)) {
          return { texts: found.texts, next: { number: BigInt(number), skip: found.inBlock } };
        }
      }
    }
    return { texts: found.texts, next: { number: last + 1n, skip: 0 } };
  }

  /** All of them. Throws RpcError -32003 for more than there is room for. */
  async inBlock(block: BlockRecord, criteria: LogCriteria, lengthMax: number): Promise<LogTexts> {
    const { number } = block.header;
    const room = { resultsMax: Infinity, lengthMax };
    const { texts, next } = await this.part({ number, skip: 0 }, number, criteria, room);
    if (next.number === number) throw tooLarge();
    return texts;
  }

  /** The logs of a block, and what makes the text of one; none if the block has no logs. */
  async logsOf(block: BlockRecord): Promise<readonly TextedLog[]> {
    const kept = this.#kept.keep(block);
    if (kept.bloom === undefined) return [];
    const logs = kept.logs ?? (await this.#kept.load(kept, block));
    return logs.map((one) => ({
      log: one.log,
      text: () => one.text ?? this.#kept.format(kept, one, block),
    }));
  }

  async #block(number: number): Promise<BlockRecord> {
    const block = await findBlock(this.#reader, { kind: "number", number: BigInt(number) });
    if (block !== undefined) return block;
    const message = `block 0x${number.toString(16)} is no longer kept; start after it`;
    throw new RpcError(HISTORY_PRUNED, message);
  }
}

export type TextedLog = { readonly log: Log; readonly text: () => string };

class Found {
  readonly texts: string[] = [];
  readonly #criteria: LogCriteria;
  readonly #room: LogRoom;
  #length = 0;
  #skip: number;
  /** Logs of the current block that match and were given, now or before. */
  inBlock = 0;

  /** `skip`: of the first block. */
  constructor(criteria: LogCriteria, room: LogRoom, skip: number) {
    this.#criteria = criteria;
    this.#room = room;
    this.#skip = skip;
  }

  startBlock(): void {
    this.inBlock = 0;
  }

  admits(log: Log): boolean {
    return matchesLog(this.#criteria, log);
  }

  /** False if there is no room for it. */
  add(text: string): boolean {
    if (this.#skip > 0) {
      this.#skip--;
      this.inBlock++;
      return true;
    }
    const { resultsMax, lengthMax } = this.#room;
    const length = this.#length + text.length + 1;
    if (this.texts.length >= resultsMax || length > lengthMax) return false;
    this.#length = length;
    this.texts.push(text);
    this.inBlock++;
    return true;
  }
}

function tooLarge(): RpcError {
  const message =
    "the logs of this block are too many for one answer; " +
    "ask by address or topic, or for the receipts of its transactions";
  return new RpcError(RESPONSE_TOO_LARGE, message);
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

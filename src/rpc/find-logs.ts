/** The logs of a range of blocks that a filter admits. */
import { findBlock, prunedBlock, requireBlock, type BlockTag } from "./block-tag.ts";
import type { BlockReader, BlockRecord, ReceiptsReader } from "./chain-reader.ts";
import { takeTurns } from "./event-loop-turn.ts";
import { formatLog } from "./format-log.ts";
import { matchesLog, mayMatchBloom, type LogCriteria, type LogFilter } from "./log-filter.ts";
import type { JsonObject } from "./parameters.ts";
import type { RpcLimits } from "./rpc-options.ts";
import { HISTORY_PRUNED, INVALID_PARAMS, LIMIT_EXCEEDED, RpcError } from "./rpc-error.ts";

export type LogsReader = BlockReader & ReceiptsReader;

export async function findLogs(
  chain: LogsReader,
  filter: LogFilter,
  limits: RpcLimits,
): Promise<readonly JsonObject[]> {
  const { blocks } = filter;
  if (blocks.kind === "hash") {
    return logsOfBlock(chain, await requireBlock(chain, blocks), filter, limits.logResultsMax);
  }
  const { first, last } = await resolveRange(chain, blocks.from, blocks.to, limits);
  return logsOfRange(chain, first, last, filter, limits.logResultsMax);
}

/** Both ends included. */
export async function logsOfRange(
  chain: LogsReader,
  first: bigint,
  last: bigint,
  criteria: LogCriteria,
  resultsMax: number,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const turn = takeTurns();
  for (let number = first; number <= last; number++) {
    await turn();
    const block = await findBlock(chain, { kind: "number", number });
    if (block === undefined) {
      const message = `block 0x${number.toString(16)} is no longer kept; start after it`;
      throw new RpcError(HISTORY_PRUNED, message);
    }
    found.push(...(await logsOfBlock(chain, block, criteria, resultsMax - found.length)));
  }
  return found;
}

export async function logsOfBlock(
  chain: ReceiptsReader,
  block: BlockRecord,
  criteria: LogCriteria,
  resultsMax: number,
): Promise<readonly JsonObject[]> {
  if (!mayMatchBloom(criteria, block.header.logsBloom)) return [];
  const receipts = await chain.receiptsOf(block);
  if (receipts === undefined) throw prunedBlock(block);
  const found: JsonObject[] = [];
  let logIndex = 0;
  for (const [transactionIndex, { logs }] of receipts.entries()) {
    const transactionHash = block.transactionHashes[transactionIndex] ?? new Uint8Array(0);
    for (const log of logs) {
      const place = { block, transactionIndex, transactionHash, logIndex };
      logIndex += 1;
      if (!matchesLog(criteria, log)) continue;
      if (found.length === resultsMax) {
        throw new RpcError(LIMIT_EXCEEDED, "query returned too many results; ask in parts");
      }
      found.push(formatLog(log, place));
    }
  }
  return found;
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

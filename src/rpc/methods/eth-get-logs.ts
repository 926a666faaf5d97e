import { findBlock, prunedBlock, requireBlock, type BlockTag } from "../block-tag.ts";
import type { BlockReader, BlockRecord, ReceiptsReader } from "../chain-reader.ts";
import { takeTurns } from "../event-loop-turn.ts";
import { formatLog } from "../format-log.ts";
import { matchesLog, mayMatchBloom, parseLogFilter, type LogFilter } from "../log-filter.ts";
import type { Method } from "../method.ts";
import type { JsonObject } from "../parameters.ts";
import type { RpcLimits } from "../rpc-options.ts";
import { HISTORY_PRUNED, INVALID_PARAMS, LIMIT_EXCEEDED, RpcError } from "../rpc-error.ts";

export type LogsReader = BlockReader & ReceiptsReader;

export const ethGetLogs: Method<LogsReader, LogFilter> = {
  name: "eth_getLogs",
  paramsMax: 1,
  parse: ([filter], context) => parseLogFilter(filter, 0, context),
  async handle(chain, filter, { limits }) {
    const { blocks } = filter;
    const found: JsonObject[] = [];
    if (blocks.kind === "hash") {
      const block = await requireBlock(chain, blocks);
      await collectLogs(chain, block, filter, limits, found);
      return found;
    }
    const { first, last } = await resolveRange(chain, blocks.from, blocks.to, limits);
    const turn = takeTurns();
    for (let number = first; number <= last; number++) {
      await turn();
      const block = await findBlock(chain, { kind: "number", number });
      if (block === undefined) {
        const message = `block 0x${number.toString(16)} is no longer kept; start after it`;
        throw new RpcError(HISTORY_PRUNED, message);
      }
      await collectLogs(chain, block, filter, limits, found);
    }
    return found;
  },
};

async function resolveRange(
  chain: BlockReader,
  from: BlockTag,
  to: BlockTag,
  { logBlocksMax }: RpcLimits,
): Promise<{ readonly first: bigint; readonly last: bigint }> {
  const latest = (await chain.latestBlock()).header.number;
  const numberOf = (tag: BlockTag): bigint => {
    if (tag.kind === "number") return tag.number;
    return tag.kind === "name" && tag.name === "earliest" ? 0n : latest;
  };
  const first = numberOf(from);
  const last = numberOf(to);
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

async function collectLogs(
  chain: ReceiptsReader,
  block: BlockRecord,
  filter: LogFilter,
  { logResultsMax }: RpcLimits,
  found: JsonObject[],
): Promise<void> {
  if (!mayMatchBloom(filter, block.header.logsBloom)) return;
  const receipts = await chain.receiptsOf(block);
  if (receipts === undefined) throw prunedBlock(block);
  let logIndex = 0;
  for (const [transactionIndex, { logs }] of receipts.entries()) {
    const transactionHash = block.transactionHashes[transactionIndex] ?? new Uint8Array(0);
    for (const log of logs) {
      const place = { block, transactionIndex, transactionHash, logIndex };
      logIndex += 1;
      if (!matchesLog(filter, log)) continue;
      if (found.length === logResultsMax) {
        const message = `query returned more than ${logResultsMax} results; ask in parts`;
        throw new RpcError(LIMIT_EXCEEDED, message);
      }
      found.push(formatLog(log, place));
    }
  }
}

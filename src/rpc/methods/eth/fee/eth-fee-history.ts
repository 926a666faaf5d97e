import {
  BEYOND_HEAD,
  findBlock,
  parseBlockNumber,
  prunedBlock,
  requireBlock,
  type BlockTag,
} from "../../../params/block-tag.ts";
import type { BlockReader, BlockRecord } from "../../../../api/chain-reader.ts";
import { takeTurns } from "../../../server/event-loop-turn.ts";
import { gasUsedBy } from "../../../format/format-receipt.ts";
import { gasPriceOf } from "../../../format/format-transaction.ts";
import type { FullBlockReader } from "../../../format/full-block.ts";
import type { Method } from "../../../method.ts";
import {
  invalidParameter,
  isAbsent,
  parseArray,
  parseQuantity,
} from "../../../params/parameters.ts";
import { quantity } from "../../../format/quantity.ts";

export type FeeHistoryReader = BlockReader & FullBlockReader;

type Params = {
  readonly blockCount: number;
  readonly newest: BlockTag;
  readonly percentiles: readonly number[];
};

const PERCENTILES_MAX = 100;
/** Without blobs their price stays at its least. */
const BLOB_BASE_FEE = "0x1";

export const ethFeeHistory: Method<FeeHistoryReader, Params> = {
  name: "eth_feeHistory",
  paramsMax: 3,
  parse: ([blockCount, newest, percentiles], { dialect, limits }) => {
    // Some callers count in decimal.
    const isCount = typeof blockCount === "number" && Number.isSafeInteger(blockCount);
    const count =
      isCount && blockCount >= 0 ? blockCount : Number(parseQuantity(blockCount, 0, dialect, 32));
    return {
      blockCount: Math.min(count, limits.feeHistoryBlocksMax),
      newest: parseBlockNumber(newest, 1, dialect),
      percentiles: parsePercentiles(percentiles),
    };
  },
  async handle(chain, { blockCount, newest, percentiles }) {
    if (blockCount === 0) return { oldestBlock: "0x0", baseFeePerGas: [], gasUsedRatio: [] };
    const last = await requireBlock(chain, newest, BEYOND_HEAD);
    // Blocks that are not at hand are decoded, and their transactions sorted by tip.
    const turn = takeTurns();
    const blocks = await blocksUpTo(chain, last, blockCount, turn);
    const reward: string[][] = [];
    if (percentiles.length > 0) {
      for (const block of blocks) {
        await turn();
        reward.push(await rewardsOf(chain, block, percentiles));
      }
    }
    const fees = blocks.map(({ header }) => quantity(header.baseFeePerGas));
    return {
      oldestBlock: quantity((blocks[0] ?? last).header.number),
      // The base fee never moves: the next block has that of the last one.
      baseFeePerGas: [...fees, quantity(last.header.baseFeePerGas)],
      gasUsedRatio: blocks.map(({ header }) => Number(header.gasUsed) / Number(header.gasLimit)),
      baseFeePerBlobGas: [...blocks, last].map(() => BLOB_BASE_FEE),
      blobGasUsedRatio: blocks.map(() => 0),
      ...(percentiles.length > 0 && { reward }),
    };
  },
};

function parsePercentiles(value: unknown): readonly number[] {
  if (isAbsent(value)) return [];
  let least = 0;
  return parseArray(value, 2, PERCENTILES_MAX).map((entry, index) => {
    if (typeof entry !== "number" || entry < least || entry > 100) {
      throw invalidParameter(
        `2.${index}`,
        "a number from 0 to 100 that is not below the one before",
        entry,
      );
    }
    least = entry;
    return entry;
  });
}

/** At most `count`, oldest first; fewer where the chain begins or is no longer kept. */
async function blocksUpTo(
  chain: BlockReader,
  last: BlockRecord,
  count: number,
  turn: () => Promise<void>,
): Promise<readonly BlockRecord[]> {
  const blocks = [last];
  while (blocks.length < count) {
    await turn();
    const number = last.header.number - BigInt(blocks.length);
    const block = number < 0n ? undefined : await findBlock(chain, { kind: "number", number });
    if (block === undefined) break;
    blocks.push(block);
  }
  return blocks.reverse();
}

/** The tips per gas, such that the given share of the block's gas was bought for at most that. */
async function rewardsOf(
  chain: FullBlockReader,
  block: BlockRecord,
  percentiles: readonly number[],
): Promise<string[]> {
  const { gasUsed, baseFeePerGas } = block.header;
  if (gasUsed === 0n) return percentiles.map(() => "0x0");
  const transactions = await chain.transactionsOf(block);
  const receipts = await chain.receiptsOf(block);
  if (transactions === undefined || receipts === undefined) throw prunedBlock(block);
  const tips = transactions
    .map((transaction, index) => ({
      tip: gasPriceOf(transaction, block) - baseFeePerGas,
      gas: gasUsedBy(receipts, index),
    }))
    .sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0));
  let at = 0;
  let bought = tips[0]?.gas ?? 0n;
  return percentiles.map((percentile) => {
    const wanted = (Number(gasUsed) * percentile) / 100;
    while (Number(bought) < wanted && at < tips.length - 1) bought += tips[++at]?.gas ?? 0n;
    return quantity(tips[at]?.tip ?? 0n);
  });
}

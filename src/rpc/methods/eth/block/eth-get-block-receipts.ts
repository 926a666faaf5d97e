import { findBlock, parseBlockTag, prunedBlock, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader } from "../../../../api/chain-reader.ts";
import { formatReceipt } from "../../../format/format-receipt.ts";
import type { FullBlockReader } from "../../../format/full-block.ts";
import type { Method } from "../../../method.ts";
import { requireParameter } from "../../../params/parameters.ts";

export const ethGetBlockReceipts: Method<BlockReader & FullBlockReader, BlockTag> = {
  name: "eth_getBlockReceipts",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  async handle(chain, tag) {
    const block = await findBlock(chain, tag);
    if (block === undefined) return null;
    const transactions = await chain.transactionsOf(block);
    const receipts = await chain.receiptsOf(block);
    if (transactions === undefined || receipts === undefined) throw prunedBlock(block);
    return transactions.map((transaction, index) =>
      formatReceipt({ block, index, transaction }, receipts),
    );
  },
};

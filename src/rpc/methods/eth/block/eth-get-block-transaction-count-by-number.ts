import { findBlock, parseBlockNumber, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethGetBlockTransactionCountByNumber: Method<BlockReader, BlockTag> = {
  name: "eth_getBlockTransactionCountByNumber",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockNumber(block, 0, dialect),
  async handle(chain, tag) {
    const block = await findBlock(chain, tag);
    return block === undefined ? null : quantity(block.transactionHashes.length);
  },
};

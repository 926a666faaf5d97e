import { findBlock, parseBlockNumber, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader } from "../../../../api/chain-reader.ts";
import { describeBlock, type FullBlockReader } from "../../../format/full-block.ts";
import type { Method } from "../../../method.ts";
import { parseBoolean } from "../../../params/parameters.ts";

type Params = { readonly block: BlockTag; readonly isFull: boolean };

export const ethGetBlockByNumber: Method<BlockReader & FullBlockReader, Params> = {
  name: "eth_getBlockByNumber",
  paramsMax: 2,
  parse: ([block, isFull], { dialect }) => ({
    block: parseBlockNumber(block, 0, dialect),
    isFull: parseBoolean(isFull, 1),
  }),
  async handle(chain, params, { dialect }) {
    const block = await findBlock(chain, params.block);
    return block === undefined ? null : describeBlock(chain, block, params.isFull, dialect);
  },
};

import { findBlock, parseBlockNumber, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";

/** Blocks of this chain have no uncles. */
export const ethGetUncleCountByBlockNumber: Method<BlockReader, BlockTag> = {
  name: "eth_getUncleCountByBlockNumber",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockNumber(block, 0, dialect),
  handle: async (chain, tag) => ((await findBlock(chain, tag)) === undefined ? null : "0x0"),
};

import { findBlock, parseBlockNumber, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader } from "../../../../api/chain-reader.ts";
import { formatHeader } from "../../../format/format-block.ts";
import type { Method } from "../../../method.ts";

export const ethGetHeaderByNumber: Method<BlockReader, BlockTag> = {
  name: "eth_getHeaderByNumber",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockNumber(block, 0, dialect),
  async handle(chain, tag) {
    const block = await findBlock(chain, tag);
    return block === undefined ? null : formatHeader(block);
  },
};

import type { BlockReader } from "../../../api/chain-reader.ts";
import { contentOf, formatBlockDetails } from "../../format/format-otterscan.ts";
import type { FullBlockReader } from "../../format/full-block.ts";
import type { Method } from "../../method.ts";
import { findBlock, type BlockTag } from "../../params/block-tag.ts";
import { parseOtterscanBlock } from "../otterscan-parameters.ts";

export const otsGetBlockDetails: Method<BlockReader & FullBlockReader, BlockTag> = {
  name: "ots_getBlockDetails",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseOtterscanBlock(block, 0, dialect),
  async handle(chain, tag) {
    const block = await findBlock(chain, tag);
    return block === undefined ? null : formatBlockDetails(block, await contentOf(chain, block));
  },
};

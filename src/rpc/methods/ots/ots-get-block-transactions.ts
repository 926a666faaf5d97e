import type { BlockReader } from "../../../api/chain-reader.ts";
import { contentOf, formatTransactionPage } from "../../format/format-otterscan.ts";
import type { FullBlockReader } from "../../format/full-block.ts";
import type { Method } from "../../method.ts";
import { findBlock, type BlockTag } from "../../params/block-tag.ts";
import {
  OTTERSCAN_PAGE_MAX,
  parseOtterscanBlock,
  parsePageNumber,
} from "../otterscan-parameters.ts";

type Params = { readonly block: BlockTag; readonly number: number; readonly size: number };

export const otsGetBlockTransactions: Method<BlockReader & FullBlockReader, Params> = {
  name: "ots_getBlockTransactions",
  paramsMax: 3,
  parse: ([block, number, size], { dialect }) => ({
    block: parseOtterscanBlock(block, 0, dialect),
    number: parsePageNumber(number, 1, Number.MAX_SAFE_INTEGER),
    size: parsePageNumber(size, 2, OTTERSCAN_PAGE_MAX),
  }),
  async handle(chain, { block: tag, number, size }) {
    const block = await findBlock(chain, tag);
    if (block === undefined) return null;
    return formatTransactionPage(block, await contentOf(chain, block), { number, size });
  },
};

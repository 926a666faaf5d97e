import { bytesToHex } from "../../../base/hex.ts";
import { encodeBlock } from "../../../chain/block.ts";
import { parseBlockTag, prunedBlock, requireBlock, type BlockTag } from "../../params/block-tag.ts";
import type { BlockReader, TransactionsReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { requireParameter } from "../../params/parameters.ts";

export const debugGetRawBlock: Method<BlockReader & TransactionsReader, BlockTag> = {
  name: "debug_getRawBlock",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  async handle(chain, tag) {
    const block = await requireBlock(chain, tag);
    const transactions = await chain.transactionsOf(block);
    if (transactions === undefined) throw prunedBlock(block);
    const encoded = transactions.map((transaction) => transaction.encoded);
    return bytesToHex(encodeBlock({ header: block.header, transactions: encoded }));
  },
};

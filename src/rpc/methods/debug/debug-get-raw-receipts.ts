import { bytesToHex } from "../../../base/hex.ts";
import { encodeReceipt } from "../../../chain/receipt.ts";
import { parseBlockTag, prunedBlock, requireBlock, type BlockTag } from "../../params/block-tag.ts";
import type { BlockReader, ReceiptsReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { requireParameter } from "../../params/parameters.ts";

export const debugGetRawReceipts: Method<BlockReader & ReceiptsReader, BlockTag> = {
  name: "debug_getRawReceipts",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  async handle(chain, tag) {
    const block = await requireBlock(chain, tag);
    const receipts = await chain.receiptsOf(block);
    if (receipts === undefined) throw prunedBlock(block);
    return receipts.map((receipt) => bytesToHex(encodeReceipt(receipt)));
  },
};

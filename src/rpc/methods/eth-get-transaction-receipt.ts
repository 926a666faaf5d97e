import { prunedBlock } from "../block-tag.ts";
import type { ReceiptsReader, TransactionFinder } from "../chain-reader.ts";
import { formatReceipt } from "../format-receipt.ts";
import type { Method } from "../method.ts";
import { parseHash } from "../parameters.ts";

export const ethGetTransactionReceipt: Method<TransactionFinder & ReceiptsReader, Uint8Array> = {
  name: "eth_getTransactionReceipt",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const found = await chain.findTransaction(hash);
    if (found === undefined) return null;
    const receipts = await chain.receiptsOf(found.block);
    if (receipts === undefined) throw prunedBlock(found.block);
    return formatReceipt(found, receipts);
  },
};

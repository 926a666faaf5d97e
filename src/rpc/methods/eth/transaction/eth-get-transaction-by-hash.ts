import type { PendingTransactionReader, TransactionFinder } from "../../../../api/chain-reader.ts";
import { formatTransaction } from "../../../format/format-transaction.ts";
import type { Method } from "../../../method.ts";
import { parseHash } from "../../../params/parameters.ts";

/** Standard in both dialects: the legacy shape is that of records in a block (SPEC E4, E12). */
export const ethGetTransactionByHash: Method<
  TransactionFinder & PendingTransactionReader,
  Uint8Array
> = {
  name: "eth_getTransactionByHash",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const found = await chain.findTransaction(hash);
    if (found !== undefined) return formatTransaction(found.transaction, found);
    const pending = await chain.pendingTransaction(hash);
    return pending === undefined ? null : formatTransaction(pending, undefined);
  },
};

import { bytesToHex } from "../../../base/hex.ts";
import type { PendingTransactionReader, TransactionFinder } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";

/** Final or waiting; bare 0x for one that is unknown, as other clients answer. */
export const debugGetRawTransaction: Method<
  TransactionFinder & PendingTransactionReader,
  Uint8Array
> = {
  name: "debug_getRawTransaction",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const found = await chain.findTransaction(hash);
    const transaction = found?.transaction ?? (await chain.pendingTransaction(hash));
    return transaction === undefined ? "0x" : bytesToHex(transaction.encoded);
  },
};

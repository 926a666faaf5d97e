import { debugGetRawTransaction } from "../../debug/debug-get-raw-transaction.ts";

/** The older name of debug_getRawTransaction. */
export const ethGetRawTransactionByHash: typeof debugGetRawTransaction = {
  ...debugGetRawTransaction,
  name: "eth_getRawTransactionByHash",
};

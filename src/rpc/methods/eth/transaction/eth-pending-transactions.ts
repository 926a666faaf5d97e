import type { PoolReader } from "../../../../api/chain-reader.ts";
import { formatExecutables } from "../../../format/format-pool.ts";
import { formatTransaction } from "../../../format/format-transaction.ts";
import type { Method } from "../../../method.ts";

/** All that can be ordered now, of any sender: the node knows no accounts of its own. */
export const ethPendingTransactions: Method<PoolReader, undefined> = {
  name: "eth_pendingTransactions",
  paramsMax: 0,
  parse: () => undefined,
  handle: (pool, _, { limits }) =>
    formatExecutables(pool, (one) => formatTransaction(one, undefined), limits.responseLengthMax),
};

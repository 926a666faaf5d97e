import { addressToChecksumHex } from "../../../chain/address.ts";
import type { PoolReader } from "../../../api/chain-reader.ts";
import { formatTransaction } from "../../format/format-transaction.ts";
import type { Method } from "../../method.ts";
import { formatPool } from "../../format/format-pool.ts";

export const txpoolContent: Method<PoolReader, undefined> = {
  name: "txpool_content",
  paramsMax: 0,
  parse: () => undefined,
  handle: (pool, _params, { limits }) =>
    formatPool(
      pool,
      addressToChecksumHex,
      (transaction) => formatTransaction(transaction, undefined),
      limits.responseLengthMax,
    ),
};

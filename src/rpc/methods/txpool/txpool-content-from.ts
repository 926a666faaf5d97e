import type { PoolReader } from "../../../api/chain-reader.ts";
import { byNonce } from "../../format/format-pool.ts";
import { formatTransaction } from "../../format/format-transaction.ts";
import type { Method } from "../../method.ts";
import { parseAddressParameter } from "../../params/parameters.ts";

export const txpoolContentFrom: Method<PoolReader, bigint> = {
  name: "txpool_contentFrom",
  paramsMax: 1,
  parse: ([address]) => parseAddressParameter(address, 0),
  async handle(pool, address) {
    const { executable, queued } = await pool.poolContentOf(address);
    return {
      pending: byNonce(executable, (one) => formatTransaction(one, undefined)),
      queued: byNonce(queued, (one) => formatTransaction(one, undefined)),
    };
  },
};

import { addressToChecksumHex, addressToHex } from "../../../chain/address.ts";
import { maxGasPrice } from "../../../chain/transaction.ts";
import type { PoolReader } from "../../../api/chain-reader.ts";
import { formatPool } from "../../format/format-pool.ts";
import type { Method } from "../../method.ts";

/** One line for each transaction that waits, for people. */
export const txpoolInspect: Method<PoolReader, undefined> = {
  name: "txpool_inspect",
  paramsMax: 0,
  parse: () => undefined,
  handle: (pool, _params, { limits }) =>
    formatPool(
      pool,
      addressToChecksumHex,
      ({ transaction }) => {
        const { to, value, gasLimit } = transaction;
        const target = to === undefined ? "contract creation" : addressToHex(to);
        return `${target}: ${value} wei + ${gasLimit} gas × ${maxGasPrice(transaction)} wei`;
      },
      limits.responseLengthMax,
    ),
};

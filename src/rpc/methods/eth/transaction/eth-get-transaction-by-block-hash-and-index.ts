import type { BlockReader, TransactionsReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseHash, parseQuantity } from "../../../params/parameters.ts";
import { transactionAt } from "../../transaction-at.ts";

type Params = { readonly hash: Uint8Array; readonly index: bigint };

export const ethGetTransactionByBlockHashAndIndex: Method<
  BlockReader & TransactionsReader,
  Params
> = {
  name: "eth_getTransactionByBlockHashAndIndex",
  paramsMax: 2,
  parse: ([hash, index], { dialect }) => ({
    hash: parseHash(hash, 0),
    index: parseQuantity(index, 1, dialect),
  }),
  async handle(chain, { hash, index }) {
    const block = await chain.blockByHash(hash);
    return block === undefined ? null : transactionAt(chain, block, index);
  },
};

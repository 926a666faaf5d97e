import { findBlock, parseBlockNumber, type BlockTag } from "../../../params/block-tag.ts";
import type { BlockReader, TransactionsReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseQuantity } from "../../../params/parameters.ts";
import { transactionAt } from "../../transaction-at.ts";

type Params = { readonly block: BlockTag; readonly index: bigint };

export const ethGetTransactionByBlockNumberAndIndex: Method<
  BlockReader & TransactionsReader,
  Params
> = {
  name: "eth_getTransactionByBlockNumberAndIndex",
  paramsMax: 2,
  parse: ([block, index], { dialect }) => ({
    block: parseBlockNumber(block, 0, dialect),
    index: parseQuantity(index, 1, dialect),
  }),
  async handle(chain, params) {
    const block = await findBlock(chain, params.block);
    return block === undefined ? null : transactionAt(chain, block, params.index);
  },
};

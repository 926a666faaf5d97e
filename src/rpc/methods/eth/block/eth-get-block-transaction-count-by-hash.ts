import type { BlockReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseHash } from "../../../params/parameters.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethGetBlockTransactionCountByHash: Method<BlockReader, Uint8Array> = {
  name: "eth_getBlockTransactionCountByHash",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const block = await chain.blockByHash(hash);
    return block === undefined ? null : quantity(block.transactionHashes.length);
  },
};

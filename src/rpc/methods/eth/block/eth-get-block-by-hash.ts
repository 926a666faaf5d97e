import type { BlockReader } from "../../../../api/chain-reader.ts";
import { describeBlock, type FullBlockReader } from "../../../format/full-block.ts";
import type { Method } from "../../../method.ts";
import { parseBoolean, parseHash } from "../../../params/parameters.ts";

type Params = { readonly hash: Uint8Array; readonly isFull: boolean };

export const ethGetBlockByHash: Method<BlockReader & FullBlockReader, Params> = {
  name: "eth_getBlockByHash",
  paramsMax: 2,
  parse: ([hash, isFull]) => ({ hash: parseHash(hash, 0), isFull: parseBoolean(isFull, 1) }),
  async handle(chain, { hash, isFull }, { dialect }) {
    const block = await chain.blockByHash(hash);
    return block === undefined ? null : describeBlock(chain, block, isFull, dialect);
  },
};

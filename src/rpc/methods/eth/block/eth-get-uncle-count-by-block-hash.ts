import type { BlockReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseHash } from "../../../params/parameters.ts";

/** Blocks of this chain have no uncles. */
export const ethGetUncleCountByBlockHash: Method<BlockReader, Uint8Array> = {
  name: "eth_getUncleCountByBlockHash",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  handle: async (chain, hash) => ((await chain.blockByHash(hash)) === undefined ? null : "0x0"),
};

import type { BlockReader } from "../../../../api/chain-reader.ts";
import { formatHeader } from "../../../format/format-block.ts";
import type { Method } from "../../../method.ts";
import { parseHash } from "../../../params/parameters.ts";

export const ethGetHeaderByHash: Method<BlockReader, Uint8Array> = {
  name: "eth_getHeaderByHash",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const block = await chain.blockByHash(hash);
    return block === undefined ? null : formatHeader(block);
  },
};

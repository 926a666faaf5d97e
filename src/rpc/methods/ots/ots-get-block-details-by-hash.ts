import type { BlockReader } from "../../../api/chain-reader.ts";
import { contentOf, formatBlockDetails } from "../../format/format-otterscan.ts";
import type { FullBlockReader } from "../../format/full-block.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";

export const otsGetBlockDetailsByHash: Method<BlockReader & FullBlockReader, Uint8Array> = {
  name: "ots_getBlockDetailsByHash",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash) {
    const block = await chain.blockByHash(hash);
    return block === undefined ? null : formatBlockDetails(block, await contentOf(chain, block));
  },
};

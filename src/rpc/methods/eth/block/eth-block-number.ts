import { whenThere } from "../../../../api/awaitable.ts";
import type { HeadReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethBlockNumber: Method<HeadReader, undefined> = {
  name: "eth_blockNumber",
  paramsMax: 0,
  parse: () => undefined,
  handle: (chain) => whenThere(chain.latestBlock(), ({ header }) => quantity(header.number)),
};

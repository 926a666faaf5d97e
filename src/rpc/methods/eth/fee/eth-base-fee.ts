import type { HeadReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

/** Of the next block: it never moves. */
export const ethBaseFee: Method<HeadReader, undefined> = {
  name: "eth_baseFee",
  paramsMax: 0,
  parse: () => undefined,
  handle: async (chain) => quantity((await chain.latestBlock()).header.baseFeePerGas),
};

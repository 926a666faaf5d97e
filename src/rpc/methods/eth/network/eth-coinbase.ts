import { addressToHex } from "../../../../chain/address.ts";
import type { HeadReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";

/** The beneficiary of every block, an address without a known key. */
export const ethCoinbase: Method<HeadReader, undefined> = {
  name: "eth_coinbase",
  paramsMax: 0,
  parse: () => undefined,
  handle: async (chain) => addressToHex((await chain.latestBlock()).header.coinbase),
};

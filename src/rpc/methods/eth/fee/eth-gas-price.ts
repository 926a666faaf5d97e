import type { HeadReader, PriorityFeeReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

/** Base fee and tip: what a legacy transaction should offer. */
export const ethGasPrice: Method<HeadReader & PriorityFeeReader, undefined> = {
  name: "eth_gasPrice",
  paramsMax: 0,
  parse: () => undefined,
  async handle(chain) {
    const { header } = await chain.latestBlock();
    return quantity(header.baseFeePerGas + (await chain.priorityFee()));
  },
};

import type { PriorityFeeReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethMaxPriorityFeePerGas: Method<PriorityFeeReader, undefined> = {
  name: "eth_maxPriorityFeePerGas",
  paramsMax: 0,
  parse: () => undefined,
  handle: async (chain) => quantity(await chain.priorityFee()),
};

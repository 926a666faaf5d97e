import type { NetworkReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethChainId: Method<NetworkReader, undefined> = {
  name: "eth_chainId",
  paramsMax: 0,
  parse: () => undefined,
  handle: ({ chainId }) => quantity(chainId),
};

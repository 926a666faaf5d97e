import type { NetworkReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";

/** The chain id in decimal. */
export const netVersion: Method<NetworkReader, undefined> = {
  name: "net_version",
  paramsMax: 0,
  parse: () => undefined,
  handle: ({ chainId }) => chainId.toString(),
};

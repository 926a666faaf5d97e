import type { NetworkReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";

export const web3ClientVersion: Method<NetworkReader, undefined> = {
  name: "web3_clientVersion",
  paramsMax: 0,
  parse: () => undefined,
  handle: ({ clientVersion }) => clientVersion,
};

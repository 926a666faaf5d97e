import type { PeerReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { quantity } from "../../format/quantity.ts";

/** The replicas that this node has a link to. */
export const netPeerCount: Method<PeerReader, undefined> = {
  name: "net_peerCount",
  paramsMax: 0,
  parse: () => undefined,
  handle: async (node) => quantity(await node.peerCount()),
};

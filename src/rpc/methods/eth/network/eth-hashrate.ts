import type { Method } from "../../../method.ts";

/** Blocks are made by the agreement of the replicas. */
export const ethHashrate: Method<unknown, undefined> = {
  name: "eth_hashrate",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => "0x0",
};

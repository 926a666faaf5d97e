import type { Method } from "../../../method.ts";

/** Blocks are made by the agreement of the replicas. */
export const ethMining: Method<unknown, undefined> = {
  name: "eth_mining",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => false,
};

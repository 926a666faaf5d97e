import type { Method } from "../../../method.ts";
import { parseHash, parseQuantity } from "../../../params/parameters.ts";

/** Blocks of this chain have no uncles. */
export const ethGetUncleByBlockHashAndIndex: Method<unknown, undefined> = {
  name: "eth_getUncleByBlockHashAndIndex",
  paramsMax: 2,
  parse: ([hash, index], { dialect }) => {
    parseHash(hash, 0);
    parseQuantity(index, 1, dialect);
  },
  handle: () => null,
};

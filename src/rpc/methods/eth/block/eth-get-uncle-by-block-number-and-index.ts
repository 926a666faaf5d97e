import { parseBlockNumber } from "../../../params/block-tag.ts";
import type { Method } from "../../../method.ts";
import { parseQuantity } from "../../../params/parameters.ts";

/** Blocks of this chain have no uncles. */
export const ethGetUncleByBlockNumberAndIndex: Method<unknown, undefined> = {
  name: "eth_getUncleByBlockNumberAndIndex",
  paramsMax: 2,
  parse: ([block, index], { dialect }) => {
    parseBlockNumber(block, 0, dialect);
    parseQuantity(index, 1, dialect);
  },
  handle: () => null,
};

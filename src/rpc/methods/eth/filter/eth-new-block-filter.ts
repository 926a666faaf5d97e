import type { Filters } from "../../../logs/filters.ts";
import type { Method } from "../../../method.ts";

export const ethNewBlockFilter: Method<Filters, undefined> = {
  name: "eth_newBlockFilter",
  paramsMax: 0,
  parse: () => undefined,
  handle: (filters, _params, { limits }) => filters.addBlocks(limits),
};

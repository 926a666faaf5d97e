import type { FilterId, Filters } from "../../../logs/filters.ts";
import type { Method } from "../../../method.ts";
import { parseId } from "../../../params/parameters.ts";

export const ethGetFilterChanges: Method<Filters, FilterId> = {
  name: "eth_getFilterChanges",
  paramsMax: 1,
  parse: ([id]) => parseId(id, 0),
  handle: (filters, id, { limits }) => filters.changes(id, limits),
};

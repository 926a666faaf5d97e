import type { FilterId, Filters } from "../../../logs/filters.ts";
import type { Method } from "../../../method.ts";
import { parseId } from "../../../params/parameters.ts";

export const ethGetFilterLogs: Method<Filters, FilterId> = {
  name: "eth_getFilterLogs",
  paramsMax: 1,
  parse: ([id]) => parseId(id, 0),
  handle: (filters, id, { limits }) => filters.logs(id, limits),
};

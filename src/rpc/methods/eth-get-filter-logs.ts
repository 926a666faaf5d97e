import type { FilterId, Filters } from "../filters.ts";
import type { Method } from "../method.ts";
import { parseId } from "../parameters.ts";

export const ethGetFilterLogs: Method<Filters, FilterId> = {
  name: "eth_getFilterLogs",
  paramsMax: 1,
  parse: ([id]) => parseId(id, 0),
  handle: (filters, id, { limits }) => filters.logs(id, limits),
};

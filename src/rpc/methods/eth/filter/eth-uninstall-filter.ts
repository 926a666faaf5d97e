import type { FilterId, Filters } from "../../../logs/filters.ts";
import type { Method } from "../../../method.ts";
import { parseId } from "../../../params/parameters.ts";

export const ethUninstallFilter: Method<Filters, FilterId> = {
  name: "eth_uninstallFilter",
  paramsMax: 1,
  parse: ([id]) => parseId(id, 0),
  handle: (filters, id) => filters.remove(id),
};

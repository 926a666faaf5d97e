import type { Filters } from "../../../logs/filters.ts";
import { parseLogFilter, type LogFilter } from "../../../logs/log-filter.ts";
import type { Method } from "../../../method.ts";

export const ethNewFilter: Method<Filters, LogFilter> = {
  name: "eth_newFilter",
  paramsMax: 1,
  parse: ([filter], context) => parseLogFilter(filter, 0, context),
  handle: (filters, filter, { limits }) => filters.addLogs(filter, limits),
};

import { jsonList } from "../../../json-text.ts";
import { parseLogFilter, type LogFilter } from "../../../logs/log-filter.ts";
import type { LogSearch } from "../../../logs/log-search.ts";
import type { Method } from "../../../method.ts";

export const ethGetLogs: Method<LogSearch, LogFilter> = {
  name: "eth_getLogs",
  paramsMax: 1,
  parse: ([filter], context) => parseLogFilter(filter, 0, context),
  handle: async (search, filter, { limits }) => jsonList(await search.find(filter, limits)),
};

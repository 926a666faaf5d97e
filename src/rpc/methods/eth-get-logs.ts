import { findLogs, type LogsReader } from "../find-logs.ts";
import { parseLogFilter, type LogFilter } from "../log-filter.ts";
import type { Method } from "../method.ts";

export const ethGetLogs: Method<LogsReader, LogFilter> = {
  name: "eth_getLogs",
  paramsMax: 1,
  parse: ([filter], context) => parseLogFilter(filter, 0, context),
  handle: (chain, filter, { limits }) => findLogs(chain, filter, limits),
};

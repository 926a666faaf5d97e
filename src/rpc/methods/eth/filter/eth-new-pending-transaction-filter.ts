import type { Filters } from "../../../logs/filters.ts";
import type { Method } from "../../../method.ts";

export const ethNewPendingTransactionFilter: Method<Filters, undefined> = {
  name: "eth_newPendingTransactionFilter",
  paramsMax: 0,
  parse: () => undefined,
  handle: (filters, _params, { limits }) => filters.addPending(limits),
};

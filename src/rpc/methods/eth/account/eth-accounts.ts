import type { Method } from "../../../method.ts";

/** The node holds no keys of accounts. */
export const ethAccounts: Method<unknown, undefined> = {
  name: "eth_accounts",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => [],
};

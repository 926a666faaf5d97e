import type { Method } from "../../method.ts";

/** Only final blocks with matching results become part of the chain, so there are no bad ones. */
export const debugGetBadBlocks: Method<unknown, undefined> = {
  name: "debug_getBadBlocks",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => [],
};

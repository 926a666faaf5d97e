import type { Method } from "../../method.ts";

/** A block that is not final and matched is never part of this chain: there are no bad ones. */
export const debugGetBadBlocks: Method<unknown, undefined> = {
  name: "debug_getBadBlocks",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => [],
};

import type { Method } from "../../method.ts";

export const netListening: Method<unknown, undefined> = {
  name: "net_listening",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => true,
};

import type { Method } from "../../method.ts";

const API_LEVEL = 8;

/** The version of the ots module that Otterscan asks for first. */
export const otsGetApiLevel: Method<unknown, undefined> = {
  name: "ots_getApiLevel",
  paramsMax: 0,
  parse: () => undefined,
  handle: () => API_LEVEL,
};

import type { Method } from "../../method.ts";

/** What is there, by the part of the names before the underscore. */
export type ModuleReader = { readonly methodNames: readonly string[] };

const VERSION = "1.0";

export const rpcModules: Method<ModuleReader, undefined> = {
  name: "rpc_modules",
  paramsMax: 0,
  parse: () => undefined,
  handle({ methodNames }) {
    const modules = new Set(methodNames.map((name) => name.split("_")[0] ?? name));
    return Object.fromEntries([...modules].sort(byText).map((name) => [name, VERSION]));
  },
};

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

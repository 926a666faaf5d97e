/** Where a network on this machine keeps what it has. */
import path from "node:path";

export const DEFAULT_DATA = ".quorate";

export type NetworkPaths = {
  readonly root: string;
  readonly networkFile: string;
  /** Exists until every replica has begun its log: until then an empty log is new and not lost. */
  readonly bootstrapMark: string;
  /** Who runs the network now, for people and for `down`, `status` and `logs`. */
  readonly supervisorFile: string;
  readonly supervisorLog: string;
  /** The key of the first admin, of a network with permissions. */
  readonly adminKeyFile: string;
  key(node: string): string;
  config(node: string): string;
  data(node: string): string;
  log(node: string): string;
};

export function networkPaths(root: string): NetworkPaths {
  return {
    root,
    networkFile: path.join(root, "network.json"),
    bootstrapMark: path.join(root, "bootstrap"),
    supervisorFile: path.join(root, "supervisor.json"),
    supervisorLog: path.join(root, "logs", "supervisor.log"),
    adminKeyFile: path.join(root, "keys", "admin.key"),
    key: (node) => path.join(root, "keys", `${node}.key`),
    config: (node) => path.join(root, "config", `${node}.json`),
    data: (node) => path.join(root, node),
    log: (node) => path.join(root, "logs", `${node}.log`),
  };
}

/** What flags and environment say, else `./.quorate`. */
export function dataRoot(
  given: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const fromEnvironment = environment["QUORATE_DATA"] ?? "";
  return path.resolve(given ?? (fromEnvironment === "" ? DEFAULT_DATA : fromEnvironment));
}

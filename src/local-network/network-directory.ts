/** Where a network on this machine keeps what it has, and what its nodes are called. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import path from "node:path";

export const DEFAULT_DATA = ".quorate";
export const REPLICA_COUNT = 4;
export const CLIENT_NAME = "client-0";
export const CLIENT_PRINCIPAL = 8;
export const REPLICA_NAMES: readonly string[] = Array.from(
  { length: REPLICA_COUNT },
  (_, index) => `replica-${index}`,
);
export const LOG_STACK_NAME = "log-stack";
export const NODE_NAMES: readonly string[] = [...REPLICA_NAMES, CLIENT_NAME];

export type NetworkPaths = {
  readonly root: string;
  readonly networkFile: string;
  /** There until every replica has begun its log: until then an empty log is a new one. */
  readonly foundingMark: string;
  /** Who runs the network now, for people and for `down`, `status` and `logs`. */
  readonly supervisorFile: string;
  readonly supervisorLog: string;
  key(node: string): string;
  config(node: string): string;
  data(node: string): string;
  log(node: string): string;
};

export function networkPaths(root: string): NetworkPaths {
  return {
    root,
    networkFile: path.join(root, "network.json"),
    foundingMark: path.join(root, "founding"),
    supervisorFile: path.join(root, "supervisor.json"),
    supervisorLog: path.join(root, "logs", "supervisor.log"),
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

/** The path as the user would write it. */
export function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === "" || relative.startsWith("..") ? file : relative;
}

/** All of it or none of it, also over a crash. */
export function writeWhole(file: string, text: string, mode = 0o644): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  const opened = openSync(draft, "w", mode);
  try {
    writeSync(opened, text);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(draft, file);
}

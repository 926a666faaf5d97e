/** What the operator sets for a node program. The tables are also its flags and its help. */
import { LOG_LEVELS } from "../base/logger.ts";
import { createLogEndpointSettings } from "./log-settings.ts";
import { RPC_ACCESS_SETTINGS } from "./rpc-access-settings.ts";
import {
  bigintSetting,
  booleanSetting,
  choiceSetting,
  hostSetting,
  integerSetting,
  listSetting,
  optional,
  pathSetting,
  portSetting,
  textSetting,
  type Setting,
  type SettingValues,
} from "./setting.ts";

export const LOG_FORMATS = ["auto", "json", "pretty"] as const;

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_HEALTH_PORT = 9545;
const REPLICA_INDEX_MAX = 7;
/** A longer timeout would fire at once: timers count in 32 bits. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const SHARED_SETTINGS = {
  network: pathSetting({ summary: "the network file (network.json)" }),
  key: pathSetting({ summary: "the private key of this node (PEM)" }),
  data: pathSetting({ summary: "the directory that this node writes to" }),
  "health.host": hostSetting({
    summary: "where /live, /ready and /status listen",
    fallback: DEFAULT_HOST,
  }),
  "health.port": portSetting({
    summary: "their port; 0 takes a free one",
    fallback: DEFAULT_HEALTH_PORT,
  }),
  "log.level": choiceSetting({
    summary: "the least level that is written",
    choices: LOG_LEVELS,
    fallback: "info",
  }),
  "log.format": choiceSetting({
    summary: "auto is pretty on a terminal and json elsewhere",
    choices: LOG_FORMATS,
    fallback: "auto",
  }),
  ...createLogEndpointSettings(),
  allowsNetworkFileSystem: booleanSetting({
    summary: "trust locks and memory maps of a network file system",
    fallback: false,
  }),
} as const;

export const REPLICA_SETTINGS = {
  ...SHARED_SETTINGS,
  replica: optional(
    integerSetting({
      summary: "which replica this is; by default the one that the key belongs to",
      min: 0,
      max: REPLICA_INDEX_MAX,
    }),
  ),
  "listen.host": optional(
    hostSetting({ summary: "where to listen for nodes, if not as in the network file" }),
  ),
  "listen.port": optional(portSetting({ summary: "the port to listen on, likewise" })),
} as const;

export type ReplicaConfig = SettingValues<typeof REPLICA_SETTINGS>;

export const CLIENT_SETTINGS = {
  ...SHARED_SETTINGS,
  name: textSetting({ summary: "the name of this node in logs", fallback: "client-0" }),
  "rpc.host": hostSetting({ summary: "where ethrpc listens", fallback: DEFAULT_HOST }),
  "rpc.port": portSetting({ summary: "the port of ethrpc; 0 takes a free one", fallback: 8545 }),
  "rpc.rootDialect": choiceSetting({
    summary: "what / speaks; /standard is always strict",
    choices: ["legacy", "standard"],
    // Its name in version 0.1.
    aliases: { founding: "legacy" },
    fallback: "legacy",
  }),
  "rpc.allowedHosts": listSetting({
    summary: "names in the Host header besides IP addresses; * admits any",
    fallback: ["localhost"],
  }),
  "rpc.allowedOrigins": listSetting({
    summary: "web origins besides those on this machine; * admits any",
    fallback: [],
  }),
  ...RPC_ACCESS_SETTINGS,
} as const;

export type ClientConfig = SettingValues<typeof CLIENT_SETTINGS>;

/**
 * The limits of a part are its own to name: each becomes a setting `<section>.<name>`. One that is
 * 0 by default is off until it is set, and can be set to 0 again.
 */
export function createLimitSettings(
  section: string,
  summary: string,
  defaults: Readonly<Record<string, number | bigint>>,
): Readonly<Record<string, Setting<number | bigint>>> {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, fallback]) => [
      `${section}.${name}`,
      limitSetting(name, summary, fallback),
    ]),
  );
}

function limitSetting(
  name: string,
  summary: string,
  fallback: number | bigint,
): Setting<number | bigint> {
  if (typeof fallback === "bigint") return bigintSetting({ summary, fallback });
  const max = name.endsWith("Ms") ? TIMER_MS_MAX : Number.MAX_SAFE_INTEGER;
  return integerSetting({ summary, fallback, min: Math.min(1, fallback), max });
}

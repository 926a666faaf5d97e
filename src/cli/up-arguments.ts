/** The arguments of `quorate up`. */
import { DEFAULT_CHAIN_ID, DEFAULT_GENESIS_TIMESTAMP } from "../chain/genesis.ts";
import { LOG_LEVELS } from "../base/logger.ts";
import { PORT_MAX } from "../config/setting.ts";
import { DEFAULT_LOG_STACK_PORTS } from "../config/log-settings.ts";
import { usageError, type Arguments, type OptionSpec } from "./command.ts";
import type { LogStackPorts, UpOptions } from "../local-network/up-options.ts";
import { timestampOf } from "../local-network/timestamp-of.ts";
import { dataRoot } from "../local-network/network-paths.ts";
import { REPLICA_NAMES } from "../config/node-names.ts";

export const PERMISSION_OPTIONS: readonly OptionSpec[] = [
  {
    name: "permission-write",
    summary: "of a new network: only accounts with a right may write and deploy",
  },
  {
    name: "permission-read",
    summary: "of a new network: only callers with a right may read",
  },
];

export const UP_OPTIONS: readonly OptionSpec[] = [
  { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
  { name: "port", value: "N", summary: "the port of ethrpc (8545); 0 takes a free one" },
  { name: "chain-id", value: "N", summary: `of a new network (${DEFAULT_CHAIN_ID})` },
  {
    name: "genesis-timestamp",
    value: '"YYYY-MM-DD hh:mm:ss"',
    summary: `of a new network, in UTC (${DEFAULT_GENESIS_TIMESTAMP})`,
  },
  ...PERMISSION_OPTIONS,
  { name: "alloc-file", value: "FILE", summary: "of a new network: accounts of `genesis alloc`" },
  { name: "ephemeral", summary: "use a new temporary directory and delete it at the end" },
  { name: "detach", summary: "return when the network is ready; stop it with quorate down" },
  { name: "json", summary: "one JSON record on stdout when the network is ready" },
  { name: "log-level", value: "LEVEL", summary: `of the nodes: ${LOG_LEVELS.join(", ")} (info)` },
  { name: "logs", summary: "run a log stack, too, and send the nodes' logs there" },
  { name: "log-input-port", value: "N", summary: "of the log stack's input (8080)" },
  { name: "log-search-port", value: "N", summary: "of the log stack's read endpoint (9200)" },
  { name: "log-viewer-port", value: "N", summary: "of the log stack's viewer (5601)" },
  {
    name: "rejoin",
    value: "REPLICA",
    summary: "let this replica (replica-2) give up its damaged log and come back",
  },
];

const DEFAULT_RPC_PORT = 8545;
const DIGITS = /^(0|[1-9][0-9]{0,18})$/;

export function parseUpOptions(
  { texts, switches }: Arguments,
  environment: Readonly<Record<string, string | undefined>>,
): UpOptions {
  if (switches.has("ephemeral") && texts["data"] !== undefined) {
    throw usageError("--ephemeral and --data exclude each other", "up");
  }
  const timestampText = texts["genesis-timestamp"];
  return {
    root: dataRoot(texts["data"], environment),
    rpcPort: parsePort("port", texts["port"], DEFAULT_RPC_PORT),
    chainId: parseChainId(texts["chain-id"]),
    timestamp: timestampText === undefined ? undefined : timestampOf(timestampText),
    timestampText,
    ...permissionSwitches(switches),
    allocFile: texts["alloc-file"],
    isEphemeral: switches.has("ephemeral"),
    isDetached: switches.has("detach"),
    isJson: switches.has("json"),
    logLevel: parseLevel(texts["log-level"]),
    rejoining: parseRejoining(texts["rejoin"]),
    logStack: switches.has("logs") ? parseLogStack(texts) : undefined,
  };
}

function parseLogStack(texts: Arguments["texts"]): LogStackPorts {
  const { inputPort, searchPort, viewerPort } = DEFAULT_LOG_STACK_PORTS;
  return {
    inputPort: parsePort("log-input-port", texts["log-input-port"], inputPort),
    searchPort: parsePort("log-search-port", texts["log-search-port"], searchPort),
    viewerPort: parsePort("log-viewer-port", texts["log-viewer-port"], viewerPort),
  };
}

export function permissionSwitches(switches: Arguments["switches"]): {
  readonly isWritePermissioned: boolean;
  readonly isReadPermissioned: boolean;
} {
  return {
    isWritePermissioned: switches.has("permission-write"),
    isReadPermissioned: switches.has("permission-read"),
  };
}

export function parseChainId(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!DIGITS.test(text)) throw usageError("--chain-id must be a whole number");
  return BigInt(text);
}

function parsePort(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const port = DIGITS.test(text) ? Number(text) : -1;
  if (port < 0 || port > PORT_MAX) throw usageError(`--${flag} must be 0 to ${PORT_MAX}`, "up");
  return port;
}

function parseLevel(text: string | undefined): string | undefined {
  if (text === undefined || LOG_LEVELS.some((level) => level === text)) return text;
  throw usageError(`--log-level must be one of ${LOG_LEVELS.join(", ")}`, "up");
}

function parseRejoining(text: string | undefined): ReadonlySet<string> {
  if (text === undefined) return new Set();
  // More than one replica at a time would exceed the f that the network tolerates.
  const name = /^[0-9]$/.test(text) ? `replica-${text}` : text;
  if (!REPLICA_NAMES.includes(name)) {
    throw usageError(`--rejoin must be one of ${REPLICA_NAMES.join(", ")}`, "up");
  }
  return new Set([name]);
}

/** All settings of a client node: its own, and those of the limits of two of its parts. */
import { type CallLimits, DEFAULT_CALL_LIMITS } from "../client/client-options.ts";
import { CLIENT_SETTINGS, createLimitSettings } from "../config/node-settings.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../rpc/rpc-options.ts";

export const ALL_CLIENT_SETTINGS = {
  ...CLIENT_SETTINGS,
  ...createLimitSettings("rpc", "a limit of ethrpc", DEFAULT_RPC_LIMITS),
  ...createLimitSettings("calls", "a limit of calls and traces", DEFAULT_CALL_LIMITS),
};

type Values = Readonly<Record<string, unknown>>;

export function rpcLimitsOf(values: Values): RpcLimits {
  return { ...DEFAULT_RPC_LIMITS, ...limitsOf("rpc", DEFAULT_RPC_LIMITS, values) };
}

export function callLimitsOf(values: Values): CallLimits {
  return { ...DEFAULT_CALL_LIMITS, ...limitsOf("calls", DEFAULT_CALL_LIMITS, values) };
}

function limitsOf(section: string, defaults: object, values: Values): Values {
  return Object.fromEntries(
    Object.keys(defaults).map((name) => [name, values[`${section}.${name}`]]),
  );
}

/** TLS and access of ethrpc as the settings of a client node have them. */
import { CodedError } from "../base/coded-error.ts";
import { problemText } from "../config/config-problem.ts";
import type { NetworkFile } from "../config/network-file.ts";
import type { ClientConfig } from "../config/node-settings.ts";
import { accessProblems, isAccessOpen } from "../config/rpc-access-settings.ts";
import type { AccessControl } from "../rpc/auth/access-control.ts";
import type { StateAtReader } from "../api/chain-reader.ts";
import type { RpcTlsOptions } from "../rpc/rpc-options.ts";
import { readText } from "./load-config.ts";
import { shownPath } from "./shown-path.ts";

/** Throws CONFIG_INVALID for settings that do not go together. */
export function assertAccess(config: ClientConfig, configFile: string | undefined): void {
  const problems = accessProblems(config);
  if (problems.length === 0) return;
  throw new CodedError("CONFIG_INVALID", {
    path: configFile === undefined ? "the configuration" : shownPath(configFile),
    problems: problems.map(problemText).join("; "),
  });
}

/** Undefined where everyone may do everything: then nothing of it is loaded. */
export async function createAccess(
  config: ClientConfig,
  { genesis }: NetworkFile,
  reader: StateAtReader,
): Promise<AccessControl | undefined> {
  if (!genesis.isReadPermissioned && isAccessOpen(config)) return undefined;
  const { openAccess } = await import("./rpc-access.ts");
  return openAccess(config, genesis, reader);
}

export function readTls(config: ClientConfig): RpcTlsOptions | undefined {
  const certFile = config["rpc.tls.cert"];
  const keyFile = config["rpc.tls.key"];
  const caFile = config["rpc.tls.clientCa"];
  if (certFile === undefined || keyFile === undefined) return undefined;
  return {
    cert: readText(certFile),
    key: readText(keyFile),
    clientCa: caFile === undefined ? undefined : readText(caFile),
    isClientCertRequired: config["rpc.tls.isClientCertRequired"],
  };
}

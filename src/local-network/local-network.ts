/** A network on this machine as its directory describes it, checked before anything starts. */
import { existsSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import {
  REPLICA_SETTINGS,
  type ClientConfig,
  type ReplicaConfig,
} from "../config/node-settings.ts";
import type { NetworkFile } from "../config/network-file.ts";
import { DataDirectory } from "../storage/data-directory.ts";
import { ALL_CLIENT_SETTINGS } from "../node/client-settings.ts";
import { isFree } from "./free-ports.ts";
import { loadNetworkFile, loadSettings } from "../node/load-config.ts";
import { CLIENT_NAME, CLIENT_PRINCIPAL, NODE_NAMES, REPLICA_NAMES } from "../config/node-names.ts";
import { shownPath } from "../node/shown-path.ts";
import { type NetworkPaths } from "./network-paths.ts";
import { assertKey, loadKey } from "../node/node-key.ts";

export type NodeEndpoint = { readonly host: string; readonly port: number };

export type LocalNetwork = {
  readonly file: NetworkFile;
  /** Where each node serves its health endpoints. */
  readonly health: ReadonlyMap<string, NodeEndpoint>;
  /** Whether ethrpc serves TLS. */
  readonly hasTls: boolean;
};

const RELEASE_TIMEOUT_MS = 15_000;
const RELEASE_POLL_MS = 50;

/** Throws what is wrong with its files. */
export function loadNetwork(paths: NetworkPaths): LocalNetwork {
  if (!existsSync(paths.networkFile)) {
    throw new CodedError("NETWORK_MISSING", { path: shownPath(paths.root) });
  }
  const file = loadNetworkFile(paths.networkFile);
  const given = { environment: {}, flags: {} };
  const health = new Map<string, NodeEndpoint>();
  const note = (node: string, config: ClientConfig | ReplicaConfig): void => {
    health.set(node, { host: config["health.host"], port: config["health.port"] });
  };
  for (const node of REPLICA_NAMES) {
    note(node, loadSettings(REPLICA_SETTINGS, paths.config(node), given));
  }
  const client = loadSettings(ALL_CLIENT_SETTINGS, paths.config(CLIENT_NAME), given);
  note(CLIENT_NAME, client);
  return { file, health, hasTls: client["rpc.tls.cert"] !== undefined };
}

/** Each node's key must be the one that the others expect. */
export function checkKeys(paths: NetworkPaths, { genesis, clients }: NetworkFile): void {
  REPLICA_NAMES.forEach((node, index) => {
    const expected = genesis.replicaPublicKeys[index] ?? new Uint8Array(0);
    assertKey(loadKey(paths.key(node)), expected, paths.key(node), node);
  });
  const expected = clients.get(CLIENT_PRINCIPAL) ?? new Uint8Array(0);
  assertKey(loadKey(paths.key(CLIENT_NAME)), expected, paths.key(CLIENT_NAME), CLIENT_NAME);
}

/**
 * Nodes whose supervisor was killed stop by themselves, which takes a moment: until then they hold
 * their data and ports.
 */
export async function awaitRelease(paths: NetworkPaths, onWait: () => void): Promise<void> {
  const deadlineMs = performance.now() + RELEASE_TIMEOUT_MS;
  let hasWaited = false;
  for (const node of NODE_NAMES.filter((name) => existsSync(paths.data(name)))) {
    for (;;) {
      try {
        DataDirectory.open(paths.data(node), { allowsNetworkFileSystem: true }).close();
        break;
      } catch (error) {
        const isHeld = error instanceof CodedError && error.code === "DATA_DIRECTORY_IN_USE";
        if (!isHeld || performance.now() > deadlineMs) throw error;
        if (!hasWaited) onWait();
        hasWaited = true;
        await new Promise((resolve) => setTimeout(resolve, RELEASE_POLL_MS));
      }
    }
  }
}

/** Throws PORT_TAKEN. */
export async function checkPorts({ file, health }: LocalNetwork, rpc: NodeEndpoint): Promise<void> {
  const wanted: readonly (NodeEndpoint & { readonly user: string; readonly flag?: string })[] = [
    { ...rpc, user: "ethrpc", flag: "--port" },
    ...file.replicas.map((endpoint, index) => ({ ...endpoint, user: `replica-${index}` })),
    ...[...health].map(([node, endpoint]) => ({ ...endpoint, user: `${node} (health)` })),
  ];
  for (const { host, port, user, flag } of wanted) {
    if (await isFree(host, port)) continue;
    throw new CodedError("PORT_TAKEN", { host, port, user, flag });
  }
}

/**
 * Creates a network: keys, genesis, ports and the nodes' configuration. The network file is written
 * last, so that an interrupted creation is simply repeated; existing keys are kept.
 */
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import {
  DEFAULT_GAS_LIMIT,
  DEFAULT_GENESIS_BALANCE,
  DEFAULT_TRANSACTION_GAS_MAX,
  checkGenesis,
  type GenesisAccount,
  type GenesisConfig,
} from "../chain/genesis.ts";
import { timestampToText } from "../config/timestamp-text.ts";
import { encodeNetworkFile, type NetworkFile } from "../config/network-file.ts";
import { createSigner } from "../crypto/ed25519.ts";
import { buildGenesis } from "../execution/genesis-state.ts";
import { MemoryStore } from "../state/memory-store.ts";
import { StateDatabase } from "../state/state-database.ts";
import { loadOrCreateAccountKey } from "../node/account-key.ts";
import { createDevAccounts } from "./dev-accounts.ts";
import { loadAllocFile, mergeAccounts } from "./alloc-file.ts";
import { chooseFreePorts, LOOPBACK } from "./free-ports.ts";
import { CLIENT_NAME, CLIENT_PRINCIPAL, NODE_NAMES, REPLICA_NAMES } from "../config/node-names.ts";
import { shownPath } from "../node/shown-path.ts";
import { writeFileAtomically } from "../storage/atomic-file.ts";
import { type NetworkPaths } from "./network-paths.ts";
import { createKey, loadKey } from "../node/node-key.ts";

export type NetworkCreation = Pick<
  GenesisConfig,
  "chainId" | "timestamp" | "isWritePermissioned" | "isReadPermissioned"
>;

/** `allocFile` names accounts besides the first accounts of every network. */
export async function createNetwork(
  paths: NetworkPaths,
  options: NetworkCreation,
  allocFile: string | undefined,
): Promise<void> {
  const withData = NODE_NAMES.filter((node) => existsSync(paths.data(node)));
  if (withData.length > 0) {
    throw new CodedError("NETWORK_FILE_MISSING", { path: shownPath(paths.networkFile) });
  }
  const first = firstAccounts(paths, options).map((address) => ({
    address,
    balance: DEFAULT_GENESIS_BALANCE,
  }));
  const accounts = mergeAccounts(first, allocFile === undefined ? [] : loadAllocFile(allocFile));
  const replicaPublicKeys = REPLICA_NAMES.map((node) => publicKeyIn(paths.key(node)));
  const genesis = createGenesis(options, accounts, replicaPublicKeys);
  const ports = await chooseFreePorts(REPLICA_NAMES.length + NODE_NAMES.length);
  const file: NetworkFile = {
    blockchainId: `quorate-${options.chainId}`,
    genesis,
    genesisBlockHash: genesisBlockHashOf(genesis),
    replicas: REPLICA_NAMES.map((_, index) => ({ host: LOOPBACK, port: ports[index] ?? 0 })),
    clients: new Map([[CLIENT_PRINCIPAL, publicKeyIn(paths.key(CLIENT_NAME))]]),
  };
  NODE_NAMES.forEach((node, index) => {
    const healthPort = ports[REPLICA_NAMES.length + index] ?? 0;
    const isReplica = node !== CLIENT_NAME;
    writeNodeConfig(paths, node, healthPort, isReplica ? index : undefined);
  });
  mkdirSync(path.dirname(paths.bootstrapMark), { recursive: true, mode: 0o700 });
  writeFileAtomically(paths.bootstrapMark, "the replicas have yet to begin\n");
  writeFileAtomically(paths.networkFile, encodeNetworkFile(file));
}

/**
 * The accounts of alloc are the admins of a network with permissions: well-known development keys
 * would make every user an admin.
 */
function firstAccounts(paths: NetworkPaths, options: NetworkCreation): readonly bigint[] {
  const hasPermissions = options.isWritePermissioned || options.isReadPermissioned;
  if (!hasPermissions) return createDevAccounts().map(({ address }) => address);
  return [loadOrCreateAccountKey(paths.adminKeyFile)];
}

/** Throws what checkGenesis finds first. */
export function createGenesis(
  creation: NetworkCreation,
  alloc: readonly GenesisAccount[],
  replicaPublicKeys: readonly Uint8Array[],
): GenesisConfig {
  const genesis: GenesisConfig = {
    ...creation,
    gasLimit: DEFAULT_GAS_LIMIT,
    transactionGasMax: DEFAULT_TRANSACTION_GAS_MAX,
    alloc,
    replicaPublicKeys,
  };
  const [problem] = checkGenesis(genesis, Date.now());
  if (problem === undefined) return genesis;
  const isTime = problem.code === "GENESIS_TIMESTAMP_IN_FUTURE";
  const given = isTime ? timestampToText(creation.timestamp) : problem.subject;
  throw new CodedError(problem.code, { given });
}

export function genesisBlockHashOf(genesis: GenesisConfig): Uint8Array {
  return buildGenesis(genesis, [], new StateDatabase({}, new MemoryStore())).hash;
}

function publicKeyIn(file: string): Uint8Array {
  return existsSync(file) ? createSigner(loadKey(file)).publicKey : createKey(file);
}

/** Paths in it are relative to it: the directory can be moved. */
function writeNodeConfig(
  paths: NetworkPaths,
  node: string,
  healthPort: number,
  replica: number | undefined,
): void {
  const config = {
    network: "../network.json",
    key: `../keys/${node}.key`,
    data: `../${node}`,
    ...(replica === undefined ? { name: node } : { replica }),
    health: { host: LOOPBACK, port: healthPort },
  };
  writeFileAtomically(paths.config(node), `${JSON.stringify(config, undefined, 2)}\n`);
}

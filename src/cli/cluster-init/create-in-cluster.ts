/**
 * Keys, the admin account and the genesis of a network on Kubernetes: made when they are missing,
 * never overwritten. The network's Secret comes last and is made of the others as they are in the
 * cluster, so a Job that was cut off, or two at once, end in the same network.
 */
import { randomBytes } from "node:crypto";
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex, parseHex } from "../../base/hex.ts";
import { addressToChecksumHex, publicKeyToAddress } from "../../chain/address.ts";
import {
  DEFAULT_GENESIS_BALANCE,
  DEFAULT_TRANSACTION_GAS_MAX,
  genesisAdmins,
  type GenesisAccount,
  type GenesisConfig,
} from "../../chain/genesis.ts";
import { problemText } from "../../config/config-problem.ts";
import {
  encodeNetworkFile,
  genesisProblems,
  parseNetworkFile,
  type NetworkFile,
} from "../../config/network-file.ts";
import { parsePrivateKeyPem, privateKeyToPem } from "../../crypto/certificate.ts";
import { createSigner, ED25519_SEED_SIZE } from "../../crypto/ed25519.ts";
import { publicKeyOf } from "../../crypto/secp256k1.ts";
import { genesisBlockHashOf } from "../../local-network/create-network.ts";
import {
  CLIENT_NAME,
  CLIENT_PRINCIPAL,
  NODE_NAMES,
  REPLICA_NAMES,
} from "../../config/node-names.ts";
import { differencesOf } from "./network-differences.ts";
import type { SecretData, SecretStore } from "./secret-store.ts";
import type { WantedNetwork } from "./wanted-network.ts";

export type ClusterOutcome = {
  readonly secret: string;
  /** Whether this run created it; otherwise it existed and is unchanged. */
  readonly isNew: boolean;
};

const NETWORK_FILE = "network.json";
const ADMIN_KEY = "admin.key";
const PRIVATE_KEY_SIZE = 32;

export async function createInCluster(
  wanted: WantedNetwork,
  secrets: SecretStore,
  nowMs: number,
): Promise<readonly ClusterOutcome[]> {
  const { secrets: names } = wanted;
  const stored = await secrets.get(names.network);
  if (stored !== undefined) {
    const network = readNetwork(stored, names.network, nowMs);
    compare(wanted, network);
    const keys = readKeys(await required(secrets, names.keys), names.keys);
    assertSameKeys(network, keys, names.keys);
    return [
      { secret: names.keys, isNew: false },
      { secret: names.network, isNew: false },
    ];
  }
  const outcomes: ClusterOutcome[] = [];
  const make = async (secret: string, data: () => SecretData): Promise<SecretData> => {
    const found = await secrets.get(secret);
    const isNew = found === undefined && (await secrets.create(secret, data()));
    outcomes.push({ secret, isNew });
    return found ?? required(secrets, secret);
  };
  const keys = readKeys(
    wanted.makesKeys ? await make(names.keys, createKeys) : await required(secrets, names.keys),
    names.keys,
  );
  const alloc =
    genesisAdmins(wanted.genesis).length > 0
      ? wanted.genesis.alloc
      : [adminAccount(await make(names.admin, createAdmin), names.admin), ...wanted.genesis.alloc];
  const network = createNetwork(wanted, keys, alloc, nowMs);
  const written = await make(names.network, () => ({ [NETWORK_FILE]: encodeNetworkFile(network) }));
  // Another Job may have been faster: the stored value is used.
  compare(wanted, readNetwork(written, names.network, nowMs));
  return outcomes;
}

function createKeys(): SecretData {
  return Object.fromEntries(
    NODE_NAMES.map((node) => [
      keyName(node),
      privateKeyToPem(new Uint8Array(randomBytes(ED25519_SEED_SIZE))),
    ]),
  );
}

function createAdmin(): SecretData {
  // A number at or above the order of the curve is not a key. The chance of drawing one is 2^-128.
  const privateKey = new Uint8Array(randomBytes(PRIVATE_KEY_SIZE));
  const address = publicKeyToAddress(publicKeyOf(privateKey));
  return { [ADMIN_KEY]: bytesToHex(privateKey), address: addressToChecksumHex(address) };
}

function createNetwork(
  wanted: WantedNetwork,
  keys: ReadonlyMap<string, Uint8Array>,
  alloc: readonly GenesisAccount[],
  nowMs: number,
): NetworkFile {
  const { gasLimit } = wanted.genesis;
  const genesis: GenesisConfig = {
    ...wanted.genesis,
    alloc,
    transactionGasMax:
      gasLimit < DEFAULT_TRANSACTION_GAS_MAX ? gasLimit : DEFAULT_TRANSACTION_GAS_MAX,
    replicaPublicKeys: REPLICA_NAMES.map((node) => keyOf(keys, node)),
  };
  const problems = genesisProblems(genesis, nowMs);
  if (problems.length > 0) {
    throw new CodedError("CONFIG_INVALID", {
      path: "the chart's values",
      problems: problems.map(problemText).join("; "),
    });
  }
  return {
    blockchainId: wanted.blockchainId,
    genesis,
    genesisBlockHash: genesisBlockHashOf(genesis),
    replicas: wanted.replicas,
    clients: new Map([[CLIENT_PRINCIPAL, keyOf(keys, CLIENT_NAME)]]),
  };
}

function compare(wanted: WantedNetwork, stored: NetworkFile): void {
  const differences = differencesOf(wanted, stored);
  if (differences.length === 0) return;
  throw new CodedError("CLUSTER_GENESIS_CHANGED", {
    secret: wanted.secrets.network,
    release: wanted.release,
    secrets: Object.values(wanted.secrets).join(" "),
    differences: differences.join("; "),
  });
}

function assertSameKeys(
  network: NetworkFile,
  keys: ReadonlyMap<string, Uint8Array>,
  secret: string,
): void {
  const known = new Map([[CLIENT_NAME, network.clients.get(CLIENT_PRINCIPAL)]]);
  REPLICA_NAMES.forEach((node, at) => known.set(node, network.genesis.replicaPublicKeys[at]));
  for (const [node, publicKey] of known) {
    const isSame =
      publicKey !== undefined && bytesToHex(publicKey) === bytesToHex(keyOf(keys, node));
    if (!isSame) throw new CodedError("CLUSTER_KEY_WRONG", { secret, node });
  }
}

/** Public keys by node. */
function readKeys(data: SecretData, secret: string): ReadonlyMap<string, Uint8Array> {
  return new Map(
    NODE_NAMES.map((node) => {
      const seed = parsePrivateKeyPem(data[keyName(node)] ?? "");
      if (seed !== undefined) return [node, createSigner(seed).publicKey];
      const reason = `${keyName(node)} is no Ed25519 key in PEM form`;
      throw new CodedError("CLUSTER_SECRET_INVALID", { secret, reason });
    }),
  );
}

function readNetwork(data: SecretData, secret: string, nowMs: number): NetworkFile {
  const parsed = parseNetworkFile(data[NETWORK_FILE] ?? "", nowMs);
  if (parsed.ok) return parsed.value;
  const reason = `${NETWORK_FILE}: ${parsed.error.map(problemText).join("; ")}`;
  throw new CodedError("CLUSTER_SECRET_INVALID", { secret, reason });
}

function adminAccount(data: SecretData, secret: string): GenesisAccount {
  const privateKey = parseHex((data[ADMIN_KEY] ?? "").trim());
  if (privateKey?.length === PRIVATE_KEY_SIZE) {
    const address = publicKeyToAddress(publicKeyOf(privateKey));
    return { address, balance: DEFAULT_GENESIS_BALANCE };
  }
  const reason = `${ADMIN_KEY} is no private key in 0x-hex`;
  throw new CodedError("CLUSTER_SECRET_INVALID", { secret, reason });
}

async function required(secrets: SecretStore, secret: string): Promise<SecretData> {
  const found = await secrets.get(secret);
  if (found !== undefined) return found;
  throw new CodedError("CLUSTER_SECRET_MISSING", { secret });
}

function keyOf(keys: ReadonlyMap<string, Uint8Array>, node: string): Uint8Array {
  const key = keys.get(node);
  if (key !== undefined) return key;
  throw new CodedError("CLUSTER_SECRET_MISSING", { secret: keyName(node) });
}

function keyName(node: string): string {
  return `${node}.key`;
}

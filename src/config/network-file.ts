/**
 * network.json: everything about a network that its nodes share and that is not secret. The genesis
 * in it never changes; addresses of nodes may.
 */
import { clientPrincipalMin } from "../base/client-principal.ts";
import { bytesToHex } from "../base/hex.ts";
import { err, ok, type Result } from "../base/result.ts";
import { checkGenesis, type GenesisConfig } from "../chain/genesis.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { genesisAccountToJson, numberToJson } from "./genesis-account.ts";
import { JsonFields, parseJsonRecord } from "./json-fields.ts";
import { type NetworkEndpoint, readChosenGenesis, readEndpoint } from "./network-fields.ts";
import { timestampToText } from "./timestamp-text.ts";

export type NetworkFile = {
  /** Names the network in logs and metrics. */
  readonly blockchainId: string;
  readonly genesis: GenesisConfig;
  readonly genesisBlockHash: Uint8Array;
  /** Where the replicas listen for each other and for client nodes, by index. */
  readonly replicas: readonly NetworkEndpoint[];
  /** Public keys of client nodes by principal. */
  readonly clients: ReadonlyMap<number, Uint8Array>;
};

const VERSION = 1;
const HASH_SIZE = 32;
const KEY_SIZE = 32;
const PRINCIPAL_MAX = 65_535;

export function parseNetworkFile(
  text: string,
  nowMs: number,
): Result<NetworkFile, readonly ConfigProblem[]> {
  const parsed = parseJsonRecord(text);
  if (!parsed.ok) return err([parsed.error]);
  const problems: ConfigProblem[] = [];
  const fields = new JsonFields(parsed.value, "", problems);
  const version = fields.integer("version", 0, Number.MAX_SAFE_INTEGER);
  if (version !== VERSION) fields.report("version", `must be ${VERSION}`);
  const genesis = readGenesis(fields.record("genesis"));
  const clientMin = clientPrincipalMin(genesis.replicaPublicKeys.length);
  const file: NetworkFile = {
    blockchainId: fields.text("blockchainId"),
    genesis,
    genesisBlockHash: fields.bytes("genesisBlockHash", HASH_SIZE),
    replicas: fields.records("replicas").map(readEndpoint),
    clients: new Map(fields.records("clients").map((client) => readClient(client, clientMin))),
  };
  if (file.replicas.length !== file.genesis.replicaPublicKeys.length) {
    fields.report("replicas", "must be as many as genesis.replicaPublicKeys");
  }
  fields.end();
  // Rules about values only where the form holds: stand-ins would break them, too.
  if (problems.length === 0) problems.push(...genesisProblems(file.genesis, nowMs));
  return problems.length > 0 ? err(problems) : ok(file);
}

export function encodeNetworkFile(file: NetworkFile): string {
  const { blockchainId, genesisBlockHash, replicas } = file;
  const value = {
    version: VERSION,
    blockchainId,
    genesis: genesisToJson(file.genesis),
    genesisBlockHash: bytesToHex(genesisBlockHash),
    replicas,
    clients: [...file.clients].map(([principal, publicKey]) => ({
      principal,
      publicKey: bytesToHex(publicKey),
    })),
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

export function genesisProblems(genesis: GenesisConfig, nowMs: number): ConfigProblem[] {
  return checkGenesis(genesis, nowMs).map(({ code, subject }) => ({
    path: "genesis",
    message: subject === undefined ? `breaks ${code}` : `breaks ${code} (${subject})`,
  }));
}

export function genesisToJson(genesis: GenesisConfig): Readonly<Record<string, unknown>> {
  return {
    chainId: numberToJson(genesis.chainId),
    timestamp: timestampToText(genesis.timestamp),
    gasLimit: numberToJson(genesis.gasLimit),
    transactionGasMax: numberToJson(genesis.transactionGasMax),
    alloc: genesis.alloc.map(genesisAccountToJson),
    isWritePermissioned: genesis.isWritePermissioned,
    isReadPermissioned: genesis.isReadPermissioned,
    replicaPublicKeys: genesis.replicaPublicKeys.map(bytesToHex),
  };
}

function readGenesis(fields: JsonFields): GenesisConfig {
  const genesis: GenesisConfig = {
    ...readChosenGenesis(fields),
    transactionGasMax: fields.bigint("transactionGasMax"),
    replicaPublicKeys: fields.bytesList("replicaPublicKeys", KEY_SIZE),
  };
  fields.end();
  return genesis;
}

function readClient(fields: JsonFields, principalMin: number): [number, Uint8Array] {
  const principal = fields.integer("principal", principalMin, PRINCIPAL_MAX);
  const publicKey = fields.bytes("publicKey", KEY_SIZE);
  fields.end();
  return [principal, publicKey];
}

/** What the chart asks for (templates/_wanted.tpl), read and checked. Nothing in it is secret. */
import { err, ok, type Result } from "../../base/result.ts";
import { bytesToAddress } from "../../chain/address.ts";
import type { GenesisAccount } from "../../chain/genesis.ts";
import { parseTimestamp } from "../../chain/genesis-timestamp.ts";
import type { ConfigProblem } from "../../config/config-problem.ts";
import { JsonFields, parseJsonRecord } from "../../config/json-fields.ts";
import type { NetworkEndpoint } from "../../config/network-file.ts";
import { PORT_MAX } from "../../config/setting.ts";

export type WantedNetwork = {
  readonly release: string;
  readonly blockchainId: string;
  readonly genesis: WantedGenesis;
  readonly replicas: readonly NetworkEndpoint[];
  readonly secrets: { readonly keys: string; readonly admin: string; readonly network: string };
  /** False where the operator brings the Secret with the keys. */
  readonly makesKeys: boolean;
};

export type WantedGenesis = {
  readonly chainId: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /** Empty: an admin account is made. */
  readonly alloc: readonly GenesisAccount[];
  readonly isWritePermissioned: boolean;
  readonly isReadPermissioned: boolean;
};

const ADDRESS_SIZE = 20;

export function parseWantedNetwork(text: string): Result<WantedNetwork, readonly ConfigProblem[]> {
  const parsed = parseJsonRecord(text);
  if (!parsed.ok) return err([parsed.error]);
  const problems: ConfigProblem[] = [];
  const fields = new JsonFields(parsed.value, "", problems);
  const wanted: WantedNetwork = {
    release: fields.text("release"),
    blockchainId: fields.text("blockchainId"),
    genesis: readGenesis(fields.record("genesis")),
    replicas: fields.records("replicas").map(readEndpoint),
    secrets: readSecrets(fields.record("secrets")),
    makesKeys: fields.boolean("makesKeys"),
  };
  fields.end();
  return problems.length > 0 ? err(problems) : ok(wanted);
}

function readGenesis(fields: JsonFields): WantedGenesis {
  const timestamp = parseTimestamp(fields.text("timestamp"));
  if (!timestamp.ok) fields.report("timestamp", "must be YYYY-MM-DD hh:mm:ss in UTC");
  const genesis = {
    chainId: fields.bigint("chainId"),
    timestamp: timestamp.ok ? timestamp.value : 0n,
    gasLimit: fields.bigint("gasLimit"),
    alloc: fields.records("alloc").map(readAccount),
    isWritePermissioned: fields.boolean("isWritePermissioned"),
    isReadPermissioned: fields.boolean("isReadPermissioned"),
  };
  fields.end();
  return genesis;
}

function readAccount(fields: JsonFields): GenesisAccount {
  const address = bytesToAddress(fields.bytes("address", ADDRESS_SIZE));
  const balance = fields.bigint("balance");
  fields.end();
  return { address, balance };
}

function readEndpoint(fields: JsonFields): NetworkEndpoint {
  const endpoint = { host: fields.text("host"), port: fields.integer("port", 1, PORT_MAX) };
  fields.end();
  return endpoint;
}

function readSecrets(fields: JsonFields): WantedNetwork["secrets"] {
  const secrets = {
    keys: fields.text("keys"),
    admin: fields.text("admin"),
    network: fields.text("network"),
  };
  fields.end();
  return secrets;
}

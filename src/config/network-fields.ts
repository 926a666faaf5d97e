/** Parts of a network's description that stand in more than one file, in the same form. */
import type { GenesisConfig } from "../chain/genesis.ts";
import { parseTimestamp } from "../chain/genesis-timestamp.ts";
import { readGenesisAccount } from "./genesis-account.ts";
import type { JsonFields } from "./json-fields.ts";
import { PORT_MAX } from "./setting.ts";

export type NetworkEndpoint = { readonly host: string; readonly port: number };

/**
 * The part of the genesis that the creator of the network chooses; the rest is derived or
 * generated.
 */
export type ChosenGenesis = Omit<GenesisConfig, "transactionGasMax" | "replicaPublicKeys">;

/** Does not end the record: it may have more fields. */
export function readChosenGenesis(fields: JsonFields): ChosenGenesis {
  const timestamp = parseTimestamp(fields.text("timestamp"));
  if (!timestamp.ok) fields.report("timestamp", "must be YYYY-MM-DD hh:mm:ss in UTC");
  return {
    chainId: fields.bigint("chainId"),
    timestamp: timestamp.ok ? timestamp.value : 0n,
    gasLimit: fields.bigint("gasLimit"),
    alloc: fields.records("alloc").map(readGenesisAccount),
    isWritePermissioned: fields.boolean("isWritePermissioned"),
    isReadPermissioned: fields.boolean("isReadPermissioned"),
  };
}

export function readEndpoint(fields: JsonFields): NetworkEndpoint {
  const endpoint = { host: fields.text("host"), port: fields.integer("port", 1, PORT_MAX) };
  fields.end();
  return endpoint;
}

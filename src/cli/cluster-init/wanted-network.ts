/** What the chart asks for (templates/_wanted.tpl), read and checked. Nothing in it is secret. */
import { err, ok, type Result } from "../../base/result.ts";
import type { ConfigProblem } from "../../config/config-problem.ts";
import { JsonFields, parseJsonRecord } from "../../config/json-fields.ts";
import {
  type ChosenGenesis,
  type NetworkEndpoint,
  readChosenGenesis,
  readEndpoint,
} from "../../config/network-fields.ts";

export type WantedNetwork = {
  readonly release: string;
  readonly blockchainId: string;
  /** Without accounts in `alloc`, an admin account is made. */
  readonly genesis: ChosenGenesis;
  readonly replicas: readonly NetworkEndpoint[];
  readonly secrets: { readonly keys: string; readonly admin: string; readonly network: string };
  /** False where the operator brings the Secret with the keys. */
  readonly makesKeys: boolean;
};

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

function readGenesis(fields: JsonFields): ChosenGenesis {
  const genesis = readChosenGenesis(fields);
  fields.end();
  return genesis;
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

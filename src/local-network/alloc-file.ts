/** A file with accounts of a genesis. It is a values file of the chart at the same time. */
import { CodedError } from "../base/coded-error.ts";
import type { GenesisAccount, GenesisConfig } from "../chain/genesis.ts";
import { problemText, type ConfigProblem } from "../config/config-problem.ts";
import { genesisAccountToJson, readGenesisAccount } from "../config/genesis-account.ts";
import { JsonFields, parseJsonRecord, type JsonRecord } from "../config/json-fields.ts";
import { readText } from "../node/load-config.ts";
import { shownPath } from "../node/shown-path.ts";

export function encodeAllocFile(accounts: readonly GenesisAccount[]): string {
  const alloc = accounts.map(genesisAccountToJson);
  return `${JSON.stringify({ genesisBlock: { alloc } }, undefined, 1)}\n`;
}

/** Throws CONFIG_INVALID with every problem. */
export function loadAllocFile(file: string): readonly GenesisAccount[] {
  const problems: ConfigProblem[] = [];
  const parsed = parseJsonRecord(readText(file));
  let accounts: readonly GenesisAccount[] = [];
  if (!parsed.ok) problems.push(parsed.error);
  else {
    const root = new JsonFields(parsed.value, "", problems);
    const genesisBlock = root.record("genesisBlock");
    accounts = genesisBlock.records("alloc").map(readGenesisAccount);
    genesisBlock.end();
    root.end();
  }
  if (problems.length === 0) return accounts;
  throw new CodedError("CONFIG_INVALID", {
    path: shownPath(file),
    problems: problems.map(problemText).join("; "),
  });
}

/** Whether a network was founded with the accounts of this file. */
export function includesAccounts(genesis: GenesisConfig, file: string): boolean {
  const asked = loadAllocFile(file);
  const merged = mergeAccounts(genesis.alloc, asked);
  return JSON.stringify(merged.map(plain)) === JSON.stringify(genesis.alloc.map(plain));
}

/** Without the right to administer, which an account may have for another reason. */
function plain(account: GenesisAccount): JsonRecord {
  return { ...genesisAccountToJson(account), isAdmin: undefined };
}

/** An account that both name is one: what it brings along counts, and it stays an admin. */
export function mergeAccounts(
  admins: readonly GenesisAccount[],
  carried: readonly GenesisAccount[],
): readonly GenesisAccount[] {
  const byAddress = new Map(carried.map((account) => [account.address, account]));
  const merged = admins.map((admin) => {
    const found = byAddress.get(admin.address);
    byAddress.delete(admin.address);
    if (found?.carried === undefined) return found ?? admin;
    return { ...found, carried: { ...found.carried, isAdmin: true } };
  });
  return [...merged, ...byAddress.values()];
}

/**
 * What a transaction changed, account by account, in the format of OpenEthereum: `=` is unchanged,
 * `*` changed, `+` came into being, `-` is gone.
 */
import { equalBytes } from "../../base/bytes.ts";
import { bytesToHex, type Hex, numberToHex, wordToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { ExecutionTrace, Json, TraceSetting } from "./execution-trace.ts";
import { type TouchedAccount, TouchedAccounts } from "./touched-accounts.ts";

type JsonObject = { readonly [key: string]: Json };
type Change = "changed" | "born" | "died";

export function createStateDiff(setting: TraceSetting, chainId: bigint): ExecutionTrace {
  const touched = new TouchedAccounts({ hasCode: true, hasStorage: true }, setting, chainId);
  return {
    hooks: touched.hooks,
    result() {
      const accounts: Record<string, Json> = {};
      for (const [address, before] of touched.entries()) {
        const difference = accountDifference(address, before, setting);
        if (difference !== undefined) accounts[addressToHex(address)] = difference;
      }
      return accounts;
    },
  };
}

/** Undefined for an account that is as it was. */
function accountDifference(
  address: bigint,
  before: TouchedAccount,
  { journal, room }: TraceSetting,
): JsonObject | undefined {
  const exists = journal.exists(address);
  if (!before.exists && !exists) return undefined;
  const change = before.exists === exists ? "changed" : exists ? "born" : "died";
  const { bytes: code } = journal.code(address);
  const storage: Record<string, Json> = {};
  for (const [slot, value] of before.slots.entries()) {
    const now = exists ? journal.storage(address, slot) : 0n;
    if (now !== value) storage[wordToHex(slot)] = delta(wordToHex(value), wordToHex(now), change);
  }
  if (!equalBytes(code, before.code)) room.take(2 * code.length);
  const difference = {
    balance: delta(numberToHex(before.balance), numberToHex(journal.balance(address)), change),
    code: delta(bytesToHex(before.code), bytesToHex(code), change),
    nonce: delta(numberToHex(before.nonce), numberToHex(journal.nonce(address)), change),
    storage,
  };
  const { balance, code: codeDelta, nonce } = difference;
  const isSame = balance === "=" && codeDelta === "=" && nonce === "=";
  return isSame && Object.keys(storage).length === 0 ? undefined : difference;
}

function delta(from: Hex, to: Hex, change: Change): Json {
  if (change === "born") return { "+": to };
  if (change === "died") return { "-": from };
  return from === to ? "=" : { "*": { from, to } };
}

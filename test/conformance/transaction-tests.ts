/** TransactionTests: which byte strings are transactions, whose, and at what intrinsic gas. */
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import { addressToHex } from "../../src/chain/address.ts";
import type { Fork } from "../../src/chain/fork.ts";
import { intrinsicGas } from "../../src/chain/intrinsic-gas.ts";
import { recoverTransaction } from "../../src/chain/transaction-sender.ts";
import { checkTransaction } from "../../src/chain/transaction-validity.ts";
import { asObject, asQuantity, asText, type Fixture, type JsonObject } from "./fixture-data.ts";
import { failed, inapplicable, PASSED, type Verdict } from "./outcome.ts";

const CHAIN_ID = 1n;

const FORKS: readonly (readonly [name: string, fork: Fork])[] = [
  ["Prague", "prague"],
  ["Cancun", "cancun"],
];
/** Where a file has no result for our forks, the newest older one holds: nothing changed since. */
const OLDER_FORKS: readonly (readonly [name: string, fork: Fork])[] = [
  ["Shanghai", "cancun"],
  ["London", "cancun"],
];

export function runTransactionTest(fixture: Fixture): Verdict {
  const test = asObject(fixture.body);
  const results = asObject(test["result"]);
  const ours = FORKS.filter(([name]) => results[name] !== undefined);
  const older = OLDER_FORKS.filter(([name]) => results[name] !== undefined).slice(0, 1);
  const applied = ours.length > 0 ? ours : older;
  if (applied.length === 0) return inapplicable("has results for older forks only");
  const bytes = hexToBytes(asText(test["txbytes"]));
  for (const [name, fork] of applied) {
    const problem = check(bytes, fork, asObject(results[name]));
    if (problem !== undefined) return failed(`${name}: ${problem}`);
  }
  return PASSED;
}

function check(bytes: Uint8Array, fork: Fork, expected: JsonObject): string | undefined {
  const recovered = recoverTransaction(bytes);
  const rules = { chainId: CHAIN_ID, fork, transactionGasMax: undefined };
  const error = recovered.ok
    ? checkTransaction(recovered.value.transaction, rules)
    : recovered.error;
  if (expected["exception"] !== undefined) {
    return error === undefined ? `accepted; expected ${asText(expected["exception"])}` : undefined;
  }
  if (error !== undefined || !recovered.ok) return `refused with ${error?.code ?? "nothing"}`;
  const { transaction, hash, sender } = recovered.value;
  if (bytesToHex(hash) !== asText(expected["hash"])) return `hash ${bytesToHex(hash)}`;
  if (addressToHex(sender) !== asText(expected["sender"]).toLowerCase()) {
    return `sender ${addressToHex(sender)}`;
  }
  const { intrinsic } = intrinsicGas(transaction, fork);
  const isEqual = BigInt(intrinsic) === asQuantity(expected["intrinsicGas"]);
  return isEqual ? undefined : `intrinsic gas ${intrinsic}`;
}

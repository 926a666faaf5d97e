/** A chain with write permissioning whose only admin is Alice, and its permission contract. */
import { Interface, type LogDescription } from "ethers";
import { readFileSync } from "node:fs";
import path from "node:path";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { addressToHex } from "../../../src/chain/address.ts";
import { PERMISSION_ADDRESS } from "../../../src/chain/permissions.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import type { RecoveredTransaction } from "../../../src/chain/transaction-sender.ts";
import type { EvmLog } from "../../../src/evm/world-state.ts";
import { runCall } from "../../../src/execution/calls/call.ts";
import { permissionPolicyOf } from "../../../src/execution/permission-policy.ts";
import { ADDRESSES, CHAIN_ID, GENESIS, RICH, TestChain, transactionOf } from "./test-chain.ts";

export const [ALICE = 0n, BOB = 0n, CAROL = 0n] = ADDRESSES;
export const ALICE_KEY = 0;
export const BOB_KEY = 1;
export const CAROL_KEY = 2;

export const PERMISSIONED_GENESIS = {
  ...GENESIS,
  alloc: [{ address: ALICE, balance: RICH }],
  isWritePermissioned: true,
};

export const PERMISSIONS_FILE = path.join(
  import.meta.dirname,
  "../../../contracts/permissions.json",
);

const { abi } = JSON.parse(readFileSync(PERMISSIONS_FILE, "utf8")) as { abi: [] };
export const PERMISSIONS = new Interface(abi);

export type Change = "updatePermissions" | "grantPermissions" | "revokePermissions";

export function openPermissionedChain(): TestChain {
  return new TestChain([], {}, permissionPolicyOf(PERMISSIONED_GENESIS), PERMISSIONED_GENESIS);
}

/** A signed change of permissions. */
export function change(
  keyIndex: number,
  nonce: bigint,
  method: Change,
  [from, to, action]: readonly [from: bigint, to: bigint, action: number],
): RecoveredTransaction {
  const values = [addressToHex(from), addressToHex(to), action];
  const data = hexToBytes(PERMISSIONS.encodeFunctionData(method, values));
  return transactionOf(keyIndex, { to: PERMISSION_ADDRESS, nonce, data, gasLimit: 500_000n });
}

/** What a read-only method of the contract answers now; a revert throws its error's name. */
export function ask(chain: TestChain, method: string, ...values: readonly unknown[]): unknown {
  const transaction: UnsignedTransaction = {
    type: 0,
    chainId: CHAIN_ID,
    nonce: 0n,
    gasLimit: 10_000_000n,
    to: PERMISSION_ADDRESS,
    value: 0n,
    data: hexToBytes(PERMISSIONS.encodeFunctionData(method, values)),
    gasPrice: 0n,
  };
  const environment = { state: chain.database, block: chain.blockContext(), rules: chain.rules };
  const result = runCall(environment, { transaction, sender: ALICE });
  if (!result.ok) throw new Error(result.error.code);
  const output = bytesToHex(result.value.output);
  if (result.value.status !== "success") throw new Error(errorName(output));
  return PERMISSIONS.decodeFunctionResult(method, output)[0] as unknown;
}

/** The name of the contract's error in the output of a transaction that reverted. */
export function errorName(output: string): string {
  return PERMISSIONS.parseError(output)?.name ?? output;
}

export function parseLog(log: EvmLog): LogDescription | null {
  const topics = log.topics.map((topic) => `0x${topic.toString(16).padStart(64, "0")}`);
  return PERMISSIONS.parseLog({ topics, data: bytesToHex(log.data) });
}

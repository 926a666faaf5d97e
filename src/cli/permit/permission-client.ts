/** Reads and changes the permissions of a network over ethrpc. */
import { CodedError } from "../../base/coded-error.ts";
import { parseHex } from "../../base/hex.ts";
import { addressToHex, publicKeyToAddress } from "../../chain/address.ts";
import { PERMISSION_ADDRESS } from "../../chain/permissions.ts";
import { isRecord } from "../../base/parse-json.ts";
import { type JsonRecord } from "../../config/json-fields.ts";
import { publicKeyOf } from "../../crypto/secp256k1.ts";
import { sendTransaction } from "../send-transaction.ts";
import type { JsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";
import {
  type ChangeMethod,
  type ContractRefusal,
  decodeChange,
  decodeList,
  decodeRefusal,
  encodeChange,
  encodeList,
  type Permission,
  type PermissionChange,
} from "./permission-abi.ts";
import { formatActions, formatParty } from "./permission-text.ts";

const PAGE_LENGTH = 200;
const GAS_LIMIT = 500_000n;
const RECEIPT_TIMEOUT_MS = 30_000;
const CONTRACT = addressToHex(PERMISSION_ADDRESS);

/** All entries that hold a right, as one block has them. */
export async function listPermissions(call: JsonRpcCaller): Promise<readonly Permission[]> {
  const block = await call("eth_blockNumber", []);
  const permissions: Permission[] = [];
  for (;;) {
    const data = encodeList(permissions.length, PAGE_LENGTH);
    const output = await call("eth_call", [{ to: CONTRACT, data }, block]);
    const page = decodeList(parseHex(String(output)) ?? new Uint8Array(0));
    if (page === undefined) throw new CodedError("PERMIT_CONTRACT_MISSING", { address: CONTRACT });
    permissions.push(...page);
    if (page.length < PAGE_LENGTH) return permissions;
  }
}

/** The change that was made, or undefined if nothing had to be. */
export async function changePermissions(
  call: JsonRpcCaller,
  privateKey: Uint8Array,
  method: ChangeMethod,
  permission: Permission,
): Promise<PermissionChange | undefined> {
  const data = encodeChange(method, permission);
  const admin = publicKeyToAddress(publicKeyOf(privateKey));
  await preview(call, { from: addressToHex(admin), to: CONTRACT, data }, { admin, permission });
  const sent = { privateKey, to: PERMISSION_ADDRESS, data, gasLimit: GAS_LIMIT };
  const receipt = await sendTransaction(call, sent, RECEIPT_TIMEOUT_MS);
  if (receipt["status"] !== "0x1") {
    throw new CodedError("PERMIT_FAILED", { hash: receipt["transactionHash"] });
  }
  return logsOf(receipt).flatMap((log) => readChange(log) ?? [])[0];
}

/** Says why a change would fail before it costs a transaction. */
async function preview(
  call: JsonRpcCaller,
  request: JsonRecord,
  about: { readonly admin: bigint; readonly permission: Permission },
): Promise<void> {
  try {
    await call("eth_call", [request, "latest"]);
  } catch (error) {
    if (!(error instanceof CodedError) || typeof error.data["rpcData"] !== "string") throw error;
    const refusal = decodeRefusal(error.data["rpcData"]);
    throw refusal === undefined ? error : refusalError(refusal, about);
  }
}

function refusalError(
  refusal: ContractRefusal,
  { admin, permission }: { readonly admin: bigint; readonly permission: Permission },
): CodedError {
  switch (refusal) {
    case "NotAdmin":
      return new CodedError("PERMIT_NOT_ADMIN", { account: formatParty(admin) });
    case "LastAdmin":
      return new CodedError("PERMIT_LAST_ADMIN", { account: formatParty(permission.from) });
    case "ActionNotGrantable":
      return new CodedError("PERMIT_NOT_GRANTABLE", {
        from: formatParty(permission.from),
        to: formatParty(permission.to),
        actions: formatActions(permission.rights),
      });
  }
}

function logsOf(receipt: JsonRecord): readonly JsonRecord[] {
  const logs = receipt["logs"];
  return Array.isArray(logs) ? logs.filter(isRecord) : [];
}

function readChange({ address, topics, data }: JsonRecord): PermissionChange | undefined {
  if (address !== CONTRACT || !Array.isArray(topics)) return undefined;
  const words = topics.filter((topic) => typeof topic === "string").map((topic) => BigInt(topic));
  return decodeChange(words, parseHex(String(data)) ?? new Uint8Array(0));
}

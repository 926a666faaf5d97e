/** The transaction of a state test, chosen by the indexes of one of its posts. */
import { hexToBytes } from "../../src/base/hex.ts";
import { publicKeyToAddress } from "../../src/chain/address.ts";
import type { Fork } from "../../src/chain/fork.ts";
import type { AccessList, Authorization } from "../../src/chain/transaction.ts";
import { publicKeyOf } from "../../src/crypto/secp256k1.ts";
import type { TransactionRequest } from "../../src/execution/transaction-request.ts";
import {
  asArray,
  asObject,
  asQuantity,
  asText,
  type Json,
  type JsonObject,
} from "./fixture-data.ts";

/** EIP-4844 and EIP-7691. */
const BLOB_COUNT_MAX: Readonly<Record<Fork, number>> = { cancun: 6, prague: 9 };

/** Undefined if the fields cannot be those of any transaction. */
export function readTransaction(
  fields: JsonObject,
  indexes: JsonObject,
  fork: Fork,
  chainId: bigint,
): TransactionRequest | undefined {
  const dataIndex = Number(indexes["data"]);
  const to = asText(fields["to"]);
  const accessLists = fields["accessLists"];
  const chosenList = Array.isArray(accessLists) ? (accessLists[dataIndex] as Json) : undefined;
  const shared = {
    nonce: asQuantity(fields["nonce"]),
    gasLimit: asQuantity(asArray(fields["gasLimit"])[Number(indexes["gas"])]),
    to: to === "" || to === "0x" ? undefined : asQuantity(to),
    value: asQuantity(asArray(fields["value"])[Number(indexes["value"])]),
    data: hexToBytes(asText(asArray(fields["data"])[dataIndex])),
  };
  const accessList = readAccessList(chosenList ?? []);
  const sender = readSender(fields);
  if (shared.gasLimit >= 2n ** 64n || shared.nonce >= 2n ** 64n) return undefined;
  if (shared.value >= 2n ** 256n) return undefined;
  if (fields["maxFeePerGas"] === undefined) {
    const gasPrice = asQuantity(fields["gasPrice"]);
    if (chosenList === undefined || chosenList === null) {
      return { transaction: { type: 0, chainId: undefined, gasPrice, ...shared }, sender };
    }
    return { transaction: { type: 1, chainId, gasPrice, accessList, ...shared }, sender };
  }
  const priced = {
    chainId,
    accessList,
    maxFeePerGas: asQuantity(fields["maxFeePerGas"]),
    maxPriorityFeePerGas: asQuantity(fields["maxPriorityFeePerGas"]),
    ...shared,
  };
  if (fields["authorizationList"] !== undefined) {
    const authorizationList = asArray(fields["authorizationList"]).map(readAuthorization);
    if (priced.to === undefined || authorizationList.length === 0) return undefined;
    return { transaction: { ...priced, type: 4, to: priced.to, authorizationList }, sender };
  }
  const transaction = { type: 2, ...priced } as const;
  if (fields["maxFeePerBlobGas"] === undefined) return { transaction, sender };
  // The chain refuses blob transactions, but their rules are in the tests: run them as such.
  if (transaction.to === undefined) return undefined;
  const blobs = {
    versionedHashes: asArray(fields["blobVersionedHashes"] ?? []).map(asQuantity),
    maxFeePerBlobGas: asQuantity(fields["maxFeePerBlobGas"]),
    countMax: BLOB_COUNT_MAX[fork],
  };
  return { transaction, sender, blobs };
}

function readSender(fields: JsonObject): bigint {
  if (fields["sender"] !== undefined) return asQuantity(fields["sender"]);
  return publicKeyToAddress(publicKeyOf(hexToBytes(asText(fields["secretKey"]))));
}

function readAccessList(list: Json): AccessList {
  return asArray(list).map((item) => {
    const entry = asObject(item);
    return {
      address: asQuantity(entry["address"]),
      storageKeys: asArray(entry["storageKeys"]).map(asQuantity),
    };
  });
}

function readAuthorization(item: Json): Authorization {
  const fields = asObject(item);
  return {
    chainId: asQuantity(fields["chainId"]),
    address: asQuantity(fields["address"]),
    nonce: asQuantity(fields["nonce"]),
    yParity: Number(asQuantity(fields["yParity"] ?? fields["v"])),
    r: asQuantity(fields["r"]),
    s: asQuantity(fields["s"]),
  };
}

/**
 * Bytes from outside -> Transaction. What decodes is well-formed and within the bounds that hold on
 * every chain; chain id, size and gas rules are checked by checkTransaction, the signature's owner
 * by recoverSender.
 */
import { err, ok, type Result } from "../base/result.ts";
import { decodeRlp, type RlpItem } from "./rlp/rlp.ts";
import { RlpFields } from "./rlp/rlp-fields.ts";
import type { TransactionError } from "./transaction-error.ts";
import {
  maxGasPrice,
  type AccessList,
  type AccessListEntry,
  type AccessListPayload,
  type Authorization,
  type FeeMarketPayload,
  type LegacyPayload,
  type SetCodePayload,
  type Transaction,
  type TransactionSignature,
} from "./transaction.ts";

type Decoded = Result<Transaction, TransactionError>;

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
export const SECP256K1_HALF_ORDER = SECP256K1_ORDER >> 1n;

const UINT64_MAX = 2n ** 64n - 1n;
const UINT256_MAX = 2n ** 256n - 1n;
const UNBOUNDED = Number.POSITIVE_INFINITY;

/** Nesting: the transaction, its access list, an entry, the entry's keys. */
const DEPTH_MAX = 4;

export function decodeTransaction(bytes: Uint8Array): Decoded {
  const first = bytes[0];
  if (first === undefined) return err({ code: "RLP_TRUNCATED" });
  if (first === 3) return err({ code: "TX_TYPE_BLOB_REFUSED" });
  if (first < 0xc0 && first !== 1 && first !== 2 && first !== 4) {
    return err({ code: "TX_TYPE_UNKNOWN" });
  }
  const item = decodeRlp(first < 0xc0 ? bytes.subarray(1) : bytes, DEPTH_MAX);
  if (!item.ok) return err({ code: item.error.code });
  const fields = new RlpFields();
  switch (first) {
    case 1:
      return decodeAccessListTransaction(fields, item.value);
    case 2:
      return decodeFeeMarketTransaction(fields, item.value);
    case 4:
      return decodeSetCodeTransaction(fields, item.value);
    default:
      return decodeLegacyTransaction(fields, item.value);
  }
}

function decodeLegacyTransaction(fields: RlpFields, item: RlpItem): Decoded {
  fields.enter(item, "transaction", 9, 9);
  const payload = {
    type: 0 as const,
    nonce: fields.integer("nonce"),
    gasPrice: fields.integer("gasPrice"),
    gasLimit: fields.integer("gasLimit"),
    to: fields.optionalAddress("to"),
    value: fields.integer("value"),
    data: fields.bytes("data"),
  };
  const v = fields.integer("v");
  const r = fields.integer("r");
  const s = fields.integer("s");
  if (v === 27n || v === 28n) {
    return checked(fields, { ...payload, chainId: undefined }, v - 27n, r, s);
  }
  // 35 + 2 * chainId + yParity (EIP-155); values below 27 and in between stand for nothing.
  const chainId = v < 35n ? undefined : (v - 35n) >> 1n;
  const parity = v < 35n ? -1n : (v - 35n) & 1n;
  return checked(fields, { ...payload, chainId }, parity, r, s);
}

function decodeAccessListTransaction(fields: RlpFields, item: RlpItem): Decoded {
  fields.enter(item, "transaction", 11, 11);
  const head = {
    type: 1 as const,
    chainId: fields.integer("chainId"),
    nonce: fields.integer("nonce"),
    gasPrice: fields.integer("gasPrice"),
    gasLimit: fields.integer("gasLimit"),
    to: fields.optionalAddress("to"),
    value: fields.integer("value"),
    data: fields.bytes("data"),
  };
  const accessListItem = fields.list("accessList");
  const [parity, r, s] = readSignature(fields);
  const payload = { ...head, accessList: readAccessList(fields, accessListItem) };
  return checked(fields, payload, parity, r, s);
}

function decodeFeeMarketTransaction(fields: RlpFields, item: RlpItem): Decoded {
  fields.enter(item, "transaction", 12, 12);
  const head = {
    type: 2 as const,
    chainId: fields.integer("chainId"),
    nonce: fields.integer("nonce"),
    maxPriorityFeePerGas: fields.integer("maxPriorityFeePerGas"),
    maxFeePerGas: fields.integer("maxFeePerGas"),
    gasLimit: fields.integer("gasLimit"),
    to: fields.optionalAddress("to"),
    value: fields.integer("value"),
    data: fields.bytes("data"),
  };
  const accessListItem = fields.list("accessList");
  const [parity, r, s] = readSignature(fields);
  const payload = { ...head, accessList: readAccessList(fields, accessListItem) };
  return checked(fields, payload, parity, r, s);
}

function decodeSetCodeTransaction(fields: RlpFields, item: RlpItem): Decoded {
  fields.enter(item, "transaction", 13, 13);
  const chainId = fields.integer("chainId");
  const nonce = fields.integer("nonce");
  const maxPriorityFeePerGas = fields.integer("maxPriorityFeePerGas");
  const maxFeePerGas = fields.integer("maxFeePerGas");
  const gasLimit = fields.integer("gasLimit");
  const to = fields.optionalAddress("to");
  if (to === undefined) return err(fields.failure ?? { code: "TX_TO_MISSING" });
  const value = fields.integer("value");
  const data = fields.bytes("data");
  const accessListItem = fields.list("accessList");
  const authorizationItems = fields.list("authorizationList");
  const [parity, r, s] = readSignature(fields);
  const payload: SetCodePayload = {
    type: 4,
    chainId,
    nonce,
    maxPriorityFeePerGas,
    maxFeePerGas,
    gasLimit,
    to,
    value,
    data,
    accessList: readAccessList(fields, accessListItem),
    authorizationList: authorizationItems.map((tuple) => readAuthorization(fields, tuple)),
  };
  return checked(fields, payload, parity, r, s);
}

function readSignature(fields: RlpFields): readonly [bigint, bigint, bigint] {
  return [fields.integer("yParity"), fields.integer("r"), fields.integer("s")];
}

function readAccessList(fields: RlpFields, items: readonly RlpItem[]): AccessList {
  return items.map((item) => readAccessListEntry(fields, item));
}

function readAccessListEntry(fields: RlpFields, item: RlpItem): AccessListEntry {
  fields.enter(item, "accessList.entry", 2, 2);
  const address = fields.address("accessList.address");
  const keys = fields.list("accessList.storageKeys");
  fields.enter(keys, "accessList.storageKeys", 0, UNBOUNDED);
  const storageKeys: bigint[] = [];
  while (fields.hasNext()) storageKeys.push(fields.word("accessList.storageKey"));
  return { address, storageKeys };
}

function readAuthorization(fields: RlpFields, item: RlpItem): Authorization {
  fields.enter(item, "authorization", 6, 6);
  return {
    chainId: fields.integer("authorization.chainId"),
    address: fields.address("authorization.address"),
    nonce: fields.integer("authorization.nonce", 8),
    yParity: Number(fields.integer("authorization.yParity", 1)),
    r: fields.integer("authorization.r"),
    s: fields.integer("authorization.s"),
  };
}

/** The bounds that need no more than the numbers themselves. */
function checked(
  fields: RlpFields,
  payload: LegacyPayload | AccessListPayload | FeeMarketPayload | SetCodePayload,
  parity: bigint,
  r: bigint,
  s: bigint,
): Decoded {
  if (fields.failure !== undefined) return err(fields.failure);
  // EIP-2681: an account's nonce stays below 2^64 - 1 even after this transaction.
  if (payload.nonce >= UINT64_MAX) return err({ code: "TX_NONCE_TOO_LARGE" });
  if (payload.gasLimit > UINT64_MAX) return err({ code: "TX_GAS_LIMIT_TOO_LARGE" });
  if (payload.gasLimit * maxGasPrice(payload) > UINT256_MAX) {
    return err({ code: "TX_GAS_COST_OVERFLOW" });
  }
  if (payload.type === 2 || payload.type === 4) {
    const isAbove = payload.maxPriorityFeePerGas > payload.maxFeePerGas;
    if (isAbove) return err({ code: "TX_PRIORITY_FEE_ABOVE_MAX_FEE" });
  }
  if (payload.type === 4 && payload.authorizationList.length === 0) {
    return err({ code: "TX_AUTHORIZATION_LIST_EMPTY" });
  }
  if (parity !== 0n && parity !== 1n) return err({ code: "TX_SIGNATURE_PARITY_INVALID" });
  if (r === 0n || r >= SECP256K1_ORDER) return err({ code: "TX_SIGNATURE_R_OUT_OF_RANGE" });
  if (s === 0n || s >= SECP256K1_ORDER) return err({ code: "TX_SIGNATURE_S_OUT_OF_RANGE" });
  // EIP-2: of the two signatures that one key can make of another's, only one is valid.
  if (s > SECP256K1_HALF_ORDER) return err({ code: "TX_SIGNATURE_S_HIGH" });
  const signature: TransactionSignature = { yParity: parity === 0n ? 0 : 1, r, s };
  return ok({ ...payload, ...signature });
}

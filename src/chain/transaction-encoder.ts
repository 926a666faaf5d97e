import { concatBytes } from "../base/bytes.ts";
import { writeBigEndian } from "../base/big-endian.ts";
import { unreachable } from "../base/invariant.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { addressToBytes } from "./address.ts";
import { encodeRlp, hashRlp, type RlpInput } from "./rlp/rlp.ts";
import type {
  AccessList,
  Authorization,
  Transaction,
  TransactionSignature,
  UnsignedTransaction,
} from "./transaction.ts";

/** The network form (EIP-2718): what wallets send and what blocks and roots are made of. */
export function encodeTransaction(transaction: Transaction): Uint8Array {
  const { yParity, r, s } = transaction;
  if (transaction.type === 0) {
    return encodeRlp([...payloadFields(transaction), legacyV(transaction), r, s]);
  }
  return envelope(transaction.type, [...payloadFields(transaction), yParity, r, s]);
}

export function transactionHash(transaction: Transaction): Uint8Array {
  return keccak256(encodeTransaction(transaction));
}

/** What the sender signs. */
export function signingHash(transaction: UnsignedTransaction): Uint8Array {
  const fields = payloadFields(transaction);
  if (transaction.type !== 0) return hashRlp(fields, transaction.type);
  if (transaction.chainId !== undefined) fields.push(transaction.chainId, 0, 0);
  return hashRlp(fields);
}

/** EIP-155: the chain id is folded into the third part of a legacy signature. */
export function legacyV(
  transaction: TransactionSignature & { readonly chainId: bigint | undefined },
): bigint {
  const parity = BigInt(transaction.yParity);
  return transaction.chainId === undefined ? 27n + parity : 35n + 2n * transaction.chainId + parity;
}

function payloadFields(transaction: UnsignedTransaction): RlpInput[] {
  const { nonce, gasLimit, value, data } = transaction;
  const to = transaction.to === undefined ? EMPTY_BYTES : addressToBytes(transaction.to);
  const last = [gasLimit, to, value, data] as const;
  switch (transaction.type) {
    case 0:
      return [nonce, transaction.gasPrice, ...last];
    case 1: {
      const { chainId, gasPrice, accessList } = transaction;
      return [chainId, nonce, gasPrice, ...last, accessListFields(accessList)];
    }
    case 2:
    case 4: {
      const { chainId, maxPriorityFeePerGas, maxFeePerGas, accessList } = transaction;
      const fields = [
        chainId,
        nonce,
        maxPriorityFeePerGas,
        maxFeePerGas,
        ...last,
        accessListFields(accessList),
      ];
      if (transaction.type === 2) return fields;
      return [...fields, transaction.authorizationList.map(authorizationFields)];
    }
    default:
      return unreachable(transaction);
  }
}

function accessListFields(accessList: AccessList): RlpInput {
  return accessList.map((entry) => [addressToBytes(entry.address), entry.storageKeys.map(word)]);
}

function authorizationFields(authorization: Authorization): RlpInput {
  const { chainId, address, nonce, yParity, r, s } = authorization;
  return [chainId, addressToBytes(address), nonce, yParity, r, s];
}

function envelope(type: number, fields: readonly RlpInput[]): Uint8Array {
  return concatBytes(Uint8Array.of(type), encodeRlp(fields));
}

function word(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeBigEndian(value, bytes, 0, 32);
  return bytes;
}

const EMPTY_BYTES = new Uint8Array(0);

import { bytesToHex } from "../../base/hex.ts";
import { addressToHex, createdAddress } from "../../chain/address.ts";
import type { BlockTransaction } from "../../chain/block-transaction.ts";
import type { GenesisTransaction } from "../../chain/genesis-block.ts";
import { legacyV } from "../../chain/transaction-encoder.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { AccessList, Authorization, Transaction } from "../../chain/transaction.ts";
import type { BlockRecord } from "../../api/chain-reader.ts";
import type { JsonObject } from "../params/parameters.ts";
import { integer, quantity, word } from "./quantity.ts";

/** Where a transaction stands; undefined while it is not final. */
export type TransactionPlace = { readonly block: BlockRecord; readonly index: number };

/** A record as the execution-apis specification has it. */
export function formatTransaction(
  transaction: BlockTransaction,
  place: TransactionPlace | undefined,
): JsonObject {
  const position = formatPlace(place);
  if (isGenesisTransaction(transaction)) return { ...position, ...genesisFields(transaction) };
  const { sender, hash, transaction: payload } = transaction;
  return {
    ...position,
    hash: bytesToHex(hash),
    from: addressToHex(sender),
    to: payload.to === undefined ? null : addressToHex(payload.to),
    nonce: quantity(payload.nonce),
    gas: quantity(payload.gasLimit),
    gasPrice: quantity(gasPriceOf(transaction, place?.block)),
    value: quantity(payload.value),
    input: bytesToHex(payload.data),
    type: quantity(payload.type),
    ...typeFields(payload),
    r: quantity(payload.r),
    s: quantity(payload.s),
  };
}

/** A record inside a block in the legacy shape (SPEC E4), with all other fields beside it. */
export function formatLegacyTransaction(
  transaction: BlockTransaction,
  place: TransactionPlace,
  logs: readonly JsonObject[],
): JsonObject {
  const created = contractAddressOf(transaction);
  return {
    ...formatTransaction(transaction, place),
    contractAddress: created === undefined ? "0x" : addressToHex(created),
    gasPrice: integer(gasPriceOf(transaction, place.block)),
    logs,
    value: word(valueOf(transaction)),
  };
}

/** The address of the contract that the transaction creates, if it creates one. */
export function contractAddressOf(transaction: BlockTransaction): bigint | undefined {
  if (isGenesisTransaction(transaction)) return undefined;
  const { to, nonce } = transaction.transaction;
  return to === undefined ? createdAddress(transaction.sender, nonce) : undefined;
}

/** What is paid for a unit of gas in the block; before that, the most that may be paid. */
export function gasPriceOf(transaction: BlockTransaction, block: BlockRecord | undefined): bigint {
  if (isGenesisTransaction(transaction)) return 0n;
  const payload = transaction.transaction;
  if (payload.type === 0 || payload.type === 1) return payload.gasPrice;
  if (block === undefined) return payload.maxFeePerGas;
  const price = block.header.baseFeePerGas + payload.maxPriorityFeePerGas;
  return price < payload.maxFeePerGas ? price : payload.maxFeePerGas;
}

export function senderOf(transaction: BlockTransaction): bigint {
  return isGenesisTransaction(transaction) ? transaction.from : transaction.sender;
}

export function targetOf(transaction: BlockTransaction): bigint | undefined {
  return isGenesisTransaction(transaction) ? transaction.to : transaction.transaction.to;
}

function valueOf(transaction: BlockTransaction): bigint {
  return isGenesisTransaction(transaction) ? transaction.value : transaction.transaction.value;
}

function isGenesisTransaction(
  transaction: RecoveredTransaction | GenesisTransaction,
): transaction is GenesisTransaction {
  return !("transaction" in transaction);
}

function formatPlace(place: TransactionPlace | undefined): JsonObject {
  if (place === undefined) {
    return { blockHash: null, blockNumber: null, blockTimestamp: null, transactionIndex: null };
  }
  const { hash, header } = place.block;
  return {
    blockHash: bytesToHex(hash),
    blockNumber: quantity(header.number),
    blockTimestamp: quantity(header.timestamp),
    transactionIndex: quantity(place.index),
  };
}

/** It is unsigned and used no gas: the fields of a legacy transaction, all of them zero. */
function genesisFields({ hash, from, to, value }: GenesisTransaction): JsonObject {
  return {
    hash: bytesToHex(hash),
    from: addressToHex(from),
    to: addressToHex(to),
    nonce: "0x0",
    gas: "0x0",
    gasPrice: "0x0",
    value: quantity(value),
    input: "0x",
    type: "0x0",
    v: "0x0",
    r: "0x0",
    s: "0x0",
  };
}

function typeFields(payload: Transaction): JsonObject {
  if (payload.type === 0) {
    const chainId = payload.chainId === undefined ? {} : { chainId: quantity(payload.chainId) };
    return { ...chainId, v: quantity(legacyV(payload)) };
  }
  const parity = quantity(payload.yParity);
  const typed = {
    chainId: quantity(payload.chainId),
    accessList: formatAccessList(payload.accessList),
    v: parity,
    yParity: parity,
  };
  if (payload.type === 1) return typed;
  const fees = {
    maxFeePerGas: quantity(payload.maxFeePerGas),
    maxPriorityFeePerGas: quantity(payload.maxPriorityFeePerGas),
  };
  if (payload.type === 2) return { ...typed, ...fees };
  const authorizationList = payload.authorizationList.map(formatAuthorization);
  return { ...typed, ...fees, authorizationList };
}

export function formatAccessList(accessList: AccessList): readonly JsonObject[] {
  return accessList.map(({ address, storageKeys }) => ({
    address: addressToHex(address),
    storageKeys: storageKeys.map(word),
  }));
}

function formatAuthorization(authorization: Authorization): JsonObject {
  return {
    chainId: quantity(authorization.chainId),
    address: addressToHex(authorization.address),
    nonce: quantity(authorization.nonce),
    yParity: quantity(authorization.yParity),
    r: quantity(authorization.r),
    s: quantity(authorization.s),
  };
}

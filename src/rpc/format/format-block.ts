import { bytesToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { BlockRecord } from "../../api/chain-reader.ts";
import type { Dialect } from "../method.ts";
import type { JsonObject } from "../params/parameters.ts";
import { quantity } from "./quantity.ts";

/** `transactions` are hashes or records. In the legacy shape (SPEC E3) the size is an integer. */
export function formatBlock(
  block: BlockRecord,
  transactions: readonly unknown[],
  dialect: Dialect,
): JsonObject {
  return {
    ...formatHeader(block),
    size: dialect === "legacy" ? block.size : quantity(block.size),
    withdrawals: [],
    transactions,
    uncles: [],
  };
}

/** The header alone, as eth_subscribe sends it. */
export function formatHeader({ hash, header }: BlockRecord): JsonObject {
  return {
    number: quantity(header.number),
    hash: bytesToHex(hash),
    parentHash: bytesToHex(header.parentHash),
    nonce: bytesToHex(header.nonce),
    mixHash: bytesToHex(header.mixHash),
    sha3Uncles: bytesToHex(header.ommersHash),
    logsBloom: bytesToHex(header.logsBloom),
    transactionsRoot: bytesToHex(header.transactionsRoot),
    stateRoot: bytesToHex(header.stateRoot),
    receiptsRoot: bytesToHex(header.receiptsRoot),
    miner: addressToHex(header.coinbase),
    difficulty: quantity(header.difficulty),
    extraData: bytesToHex(header.extraData),
    gasLimit: quantity(header.gasLimit),
    gasUsed: quantity(header.gasUsed),
    timestamp: quantity(header.timestamp),
    baseFeePerGas: quantity(header.baseFeePerGas),
    withdrawalsRoot: bytesToHex(header.withdrawalsRoot),
    blobGasUsed: quantity(header.blobGasUsed),
    excessBlobGas: quantity(header.excessBlobGas),
    parentBeaconBlockRoot: bytesToHex(header.parentBeaconBlockRoot),
    ...(header.requestsHash !== undefined && { requestsHash: bytesToHex(header.requestsHash) }),
  };
}

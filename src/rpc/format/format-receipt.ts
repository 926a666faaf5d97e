import { invariant } from "../../base/invariant.ts";
import { bytesToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { Receipt } from "../../chain/receipt.ts";
import type { FoundTransaction } from "../../api/chain-reader.ts";
import { firstLogIndex, formatLogs } from "./format-log.ts";
import { contractAddressOf, gasPriceOf, senderOf, targetOf } from "./format-transaction.ts";
import type { JsonObject } from "../params/parameters.ts";
import { quantity } from "./quantity.ts";

/** Receipts have one shape in both dialects (SPEC E12). */
export function formatReceipt(
  { block, index, transaction }: FoundTransaction,
  receipts: readonly Receipt[],
): JsonObject {
  const receipt = receipts[index];
  invariant(receipt !== undefined, "every transaction of a block has a receipt");
  const created = contractAddressOf(transaction);
  const to = targetOf(transaction);
  return {
    transactionHash: bytesToHex(transaction.hash),
    transactionIndex: quantity(index),
    blockHash: bytesToHex(block.hash),
    blockNumber: quantity(block.header.number),
    from: addressToHex(senderOf(transaction)),
    to: to === undefined ? null : addressToHex(to),
    contractAddress: created === undefined ? null : addressToHex(created),
    cumulativeGasUsed: quantity(receipt.cumulativeGasUsed),
    gasUsed: quantity(gasUsedBy(receipts, index)),
    effectiveGasPrice: quantity(gasPriceOf(transaction, block)),
    status: receipt.succeeded ? "0x1" : "0x0",
    type: quantity(receipt.type),
    logs: formatLogs(receipt.logs, {
      block,
      transactionIndex: index,
      transactionHash: transaction.hash,
      logIndex: firstLogIndex(receipts, index),
    }),
    logsBloom: bytesToHex(receipt.logsBloom),
  };
}

/** Receipts count gas from the start of the block. */
export function gasUsedBy(receipts: readonly Receipt[], index: number): bigint {
  const before = index === 0 ? 0n : (receipts[index - 1]?.cumulativeGasUsed ?? 0n);
  return (receipts[index]?.cumulativeGasUsed ?? before) - before;
}

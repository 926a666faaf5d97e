/** A block with hashes or with records of its transactions, as both block methods answer. */
import { bytesToHex } from "../../base/hex.ts";
import { prunedBlock } from "../params/block-tag.ts";
import type { BlockRecord, ReceiptsReader, TransactionsReader } from "../../api/chain-reader.ts";
import { formatBlock } from "./format-block.ts";
import { formatLogs } from "./format-log.ts";
import { formatLegacyTransaction, formatTransaction } from "./format-transaction.ts";
import type { Dialect } from "../method.ts";
import type { JsonObject } from "../params/parameters.ts";

export type FullBlockReader = TransactionsReader & ReceiptsReader;

export async function describeBlock(
  reader: FullBlockReader,
  block: BlockRecord,
  isFull: boolean,
  dialect: Dialect,
): Promise<JsonObject> {
  if (!isFull) return formatBlock(block, block.transactionHashes.map(bytesToHex), dialect);
  const transactions = await reader.transactionsOf(block);
  if (transactions === undefined) throw prunedBlock(block);
  if (dialect === "standard") {
    const records = transactions.map((one, index) => formatTransaction(one, { block, index }));
    return formatBlock(block, records, dialect);
  }
  const receipts = await reader.receiptsOf(block);
  if (receipts === undefined) throw prunedBlock(block);
  let logIndex = 0;
  const records = transactions.map((one, index) => {
    const { logs } = receipts[index] ?? NO_LOGS;
    const place = { block, transactionIndex: index, transactionHash: one.hash, logIndex };
    logIndex += logs.length;
    return formatLegacyTransaction(one, { block, index }, formatLogs(logs, place));
  });
  return formatBlock(block, records, dialect);
}

const NO_LOGS = { logs: [] } as const;

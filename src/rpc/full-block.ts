/** A block with hashes or with records of its transactions, as both block methods answer. */
import { bytesToHex } from "../base/hex.ts";
import { prunedBlock } from "./block-tag.ts";
import type { BlockRecord, ReceiptsReader, TransactionsReader } from "./chain-reader.ts";
import { formatBlock } from "./format-block.ts";
import { formatFoundingTransaction, formatTransaction } from "./format-transaction.ts";
import type { Dialect } from "./method.ts";
import type { JsonObject } from "./parameters.ts";

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
  const records = transactions.map((one, index) =>
    formatFoundingTransaction(one, { block, index }, receipts),
  );
  return formatBlock(block, records, dialect);
}

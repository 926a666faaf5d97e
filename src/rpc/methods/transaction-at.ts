import { prunedBlock } from "../params/block-tag.ts";
import type { BlockRecord, TransactionsReader } from "../../api/chain-reader.ts";
import { formatTransaction } from "../format/format-transaction.ts";
import type { JsonObject } from "../params/parameters.ts";

/** The record of the transaction at a place of a block; null where there is none. */
export async function transactionAt(
  reader: TransactionsReader,
  block: BlockRecord,
  index: bigint,
): Promise<JsonObject | null> {
  if (index >= BigInt(block.transactionHashes.length)) return null;
  const transactions = await reader.transactionsOf(block);
  if (transactions === undefined) throw prunedBlock(block);
  const place = { block, index: Number(index) };
  const transaction = transactions[place.index];
  return transaction === undefined ? null : formatTransaction(transaction, place);
}

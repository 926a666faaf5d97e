/** Blocks as Otterscan shows them: without what it does not draw, with counts beside them. */
import { bytesToHex } from "../../base/hex.ts";
import type { BlockTransaction } from "../../chain/block-transaction.ts";
import type { Receipt } from "../../chain/receipt.ts";
import type { BlockRecord } from "../../api/chain-reader.ts";
import { prunedBlock } from "../params/block-tag.ts";
import type { JsonObject } from "../params/parameters.ts";
import { formatBlock } from "./format-block.ts";
import type { FullBlockReader } from "./full-block.ts";
import { formatReceipt, gasUsedBy } from "./format-receipt.ts";
import { formatTransaction, gasPriceOf } from "./format-transaction.ts";
import { quantity } from "./quantity.ts";

/** A selector: Otterscan shows no more of the data in a list. */
const INPUT_LENGTH = 10;
/** Nothing is paid for a block of this chain but fees. */
const ISSUANCE = { blockReward: "0x0", uncleReward: "0x0", issuance: "0x0" } as const;

export type BlockContent = {
  readonly transactions: readonly BlockTransaction[];
  readonly receipts: readonly Receipt[];
};

export async function contentOf(
  reader: FullBlockReader,
  block: BlockRecord,
): Promise<BlockContent> {
  const transactions = await reader.transactionsOf(block);
  const receipts = await reader.receiptsOf(block);
  if (transactions === undefined || receipts === undefined) throw prunedBlock(block);
  return { transactions, receipts };
}

export function formatBlockDetails(block: BlockRecord, content: BlockContent): JsonObject {
  const { transactions, receipts } = content;
  const fees = transactions.map(
    (one, index) => gasUsedBy(receipts, index) * gasPriceOf(one, block),
  );
  return {
    block: shownBlock(block, undefined),
    issuance: ISSUANCE,
    totalFees: quantity(fees.reduce((sum, fee) => sum + fee, 0n)),
  };
}

/** The transactions of the page, the last of the block on page 0. */
export function formatTransactionPage(
  block: BlockRecord,
  { transactions, receipts }: BlockContent,
  page: { readonly number: number; readonly size: number },
): JsonObject {
  const end = Math.max(0, transactions.length - page.number * page.size);
  const first = Math.max(0, end - page.size);
  const shown = transactions.slice(first, end);
  return {
    fullblock: shownBlock(
      block,
      shown.map((one, at) => shortTransaction(one, block, first + at)),
    ),
    receipts: shown.map((transaction, at) => ({
      ...formatReceipt({ block, index: first + at, transaction }, receipts),
      logs: null,
      logsBloom: null,
    })),
  };
}

function shownBlock(block: BlockRecord, transactions: readonly unknown[] | undefined): JsonObject {
  const { transactions: none, ...shown } = formatBlock(block, transactions ?? [], "standard");
  return {
    ...shown,
    hash: bytesToHex(block.hash),
    logsBloom: null,
    transactionCount: block.transactionHashes.length,
    ...(transactions !== undefined && { transactions: none }),
  };
}

function shortTransaction(one: BlockTransaction, block: BlockRecord, index: number): JsonObject {
  const shown = formatTransaction(one, { block, index });
  const { input } = shown;
  return { ...shown, input: typeof input === "string" ? input.slice(0, INPUT_LENGTH) : input };
}

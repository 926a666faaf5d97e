import { err, ok, type Result } from "../base/result.ts";
import { headerFields, readHeader, type Header, type HeaderError } from "./header.ts";
import { decodeRlp, encodeRlp, type RlpInput, type RlpItem } from "./rlp/rlp.ts";
import { RlpFields } from "./rlp/rlp-fields.ts";

/** Transactions are in network form, as the roots and hashes take them. */
export type Block = {
  readonly header: Header;
  readonly transactions: readonly Uint8Array[];
};

export type BlockError =
  | HeaderError
  | { readonly code: "BLOCK_HAS_OMMERS" | "BLOCK_HAS_WITHDRAWALS" | "BLOCK_TRANSACTION_MALFORMED" };

/** Header, transactions, no ommers, no withdrawals: the form whose length is a block's `size`. */
export function encodeBlock(block: Block): Uint8Array {
  const { header, transactions } = block;
  return encodeRlp([headerFields(header), transactions.map(bodyItem), [], []]);
}

export function decodeBlock(bytes: Uint8Array): Result<Block, BlockError> {
  const item = decodeRlp(bytes);
  if (!item.ok) return err({ code: item.error.code });
  const fields = new RlpFields();
  fields.enter(item.value, "block", 4, 4);
  const headerItem = fields.list("header");
  const transactionItems = fields.list("transactions");
  const ommers = fields.list("ommers");
  const withdrawals = fields.list("withdrawals");
  if (fields.failure !== undefined) return err(fields.failure);
  if (ommers.length > 0) return err({ code: "BLOCK_HAS_OMMERS" });
  if (!transactionItems.every(isBodyItem)) return err({ code: "BLOCK_TRANSACTION_MALFORMED" });
  if (withdrawals.length > 0) return err({ code: "BLOCK_HAS_WITHDRAWALS" });
  const header = readHeader(headerItem);
  if (!header.ok) return header;
  return ok({ header: header.value, transactions: transactionItems.map(networkForm) });
}

/** In a block's body a typed transaction is a string, and a legacy one the list that it is. */
function bodyItem(transaction: Uint8Array): RlpInput {
  return (transaction[0] ?? 0) >= 0xc0 ? { encoded: transaction } : transaction;
}

/** A string that is no envelope would turn into something else when it is encoded again. */
function isBodyItem(item: RlpItem): boolean {
  return !(item instanceof Uint8Array) || (item[0] ?? 0xff) < 0x80;
}

function networkForm(item: RlpItem): Uint8Array {
  return item instanceof Uint8Array ? item : encodeRlp(item);
}

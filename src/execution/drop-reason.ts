import type { TransactionErrorCode } from "../chain/transaction-error.ts";

/**
 * Why an ordered transaction is not part of the Ethereum block. The codes are stable: they are
 * recorded and can be asked for. Codes of the stateless checks come from src/chain.
 */
export type DropCode =
  | TransactionErrorCode
  | "TX_NONCE_TOO_LOW"
  | "TX_NONCE_TOO_HIGH"
  | "TX_NONCE_EXHAUSTED"
  | "TX_SENDER_HAS_CODE"
  | "TX_INSUFFICIENT_BALANCE"
  | "TX_FEE_BELOW_BASE_FEE"
  | "TX_GAS_LIMIT_EXCEEDED"
  | "TX_BLOCK_GAS_EXHAUSTED"
  | "TX_BLOCK_SLOW_WORK_EXHAUSTED"
  | "TX_SLOW_WORK_EXCEEDED"
  | "TX_BLOB_HASHES_INVALID"
  | "TX_BLOB_FEE_TOO_LOW"
  | "TX_PERMISSION_DENIED";

export type DropReason = {
  readonly code: DropCode;
  /** What the state or the block would have allowed or asked for, where that is a number. */
  readonly limit?: bigint;
};

/**
 * Whether the transaction may still be included later as it is. Such a drop is not reported to the
 * sender as a rejection: otherwise a leader could remove transactions by ordering them badly.
 */
export function isRetryable(code: DropCode): boolean {
  return (
    code === "TX_NONCE_TOO_HIGH" ||
    code === "TX_BLOCK_GAS_EXHAUSTED" ||
    code === "TX_BLOCK_SLOW_WORK_EXHAUSTED"
  );
}

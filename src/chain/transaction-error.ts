import type { RlpFieldErrorCode } from "./rlp/rlp-fields.ts";
import type { RlpErrorCode } from "./rlp/rlp.ts";

/** Why a transaction is refused by its bytes and the chain's rules alone, whatever the state. */
export type TransactionErrorCode =
  | RlpErrorCode
  | RlpFieldErrorCode
  | "TX_TYPE_UNKNOWN"
  | "TX_TYPE_BLOB_REFUSED"
  | "TX_TYPE_NOT_ACTIVE"
  | "TX_CHAIN_ID_WRONG"
  | "TX_NONCE_TOO_LARGE"
  | "TX_GAS_LIMIT_TOO_LARGE"
  | "TX_GAS_LIMIT_ABOVE_MAXIMUM"
  | "TX_GAS_COST_OVERFLOW"
  | "TX_PRIORITY_FEE_ABOVE_MAX_FEE"
  | "TX_TO_MISSING"
  | "TX_INITCODE_TOO_LARGE"
  | "TX_AUTHORIZATION_LIST_EMPTY"
  | "TX_SIGNATURE_PARITY_INVALID"
  | "TX_SIGNATURE_R_OUT_OF_RANGE"
  | "TX_SIGNATURE_S_OUT_OF_RANGE"
  | "TX_SIGNATURE_S_HIGH"
  | "TX_SENDER_UNRECOVERABLE"
  | "TX_INTRINSIC_GAS_TOO_LOW"
  | "TX_FLOOR_GAS_TOO_LOW";

export type TransactionError = {
  readonly code: TransactionErrorCode;
  /** The field at fault, where the code does not name it. */
  readonly field?: string;
  /** What a limit would have allowed or asked for. */
  readonly limit?: bigint;
};

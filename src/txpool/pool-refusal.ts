/** Why a transaction is not let into the pool. One check, one code; the codes are stable. */
export type PoolRefusalCode =
  /** It is in the pool. Submitting again is no failure: callers answer with the hash. */
  | "TX_ALREADY_KNOWN"
  | "TX_SIZE_TOO_LARGE"
  | "TX_NONCE_TOO_LOW"
  | "TX_NONCE_GAP_TOO_LARGE"
  | "TX_PRICE_TOO_LOW"
  | "TX_INSUFFICIENT_BALANCE"
  /** Another transaction has this nonce, and where gas is free nothing can outbid it. */
  | "TX_NONCE_TAKEN"
  | "TX_REPLACEMENT_UNDERPRICED"
  | "TX_SENDER_LIMIT"
  | "TX_SOURCE_LIMIT"
  /** Too many transactions wait for an earlier nonce. */
  | "TX_QUEUE_FULL"
  | "TX_POOL_FULL";

export type PoolRefusal = {
  readonly code: PoolRefusalCode;
  /** What a limit would have allowed or asked for, where that is a number. */
  readonly limit?: bigint;
};

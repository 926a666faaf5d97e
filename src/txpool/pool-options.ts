const MEBIBYTE = 1024 * 1024;

/**
 * What the pool holds at most. An executable transaction may be rejected on arrival and is never
 * evicted; queued ones, which cost their sender nothing, are evicted for it.
 */
export type TxPoolOptions = {
  readonly transactionsMax: number;
  readonly bytesMax: number;
  /** Of all transactions, those that wait for an earlier one may be this many. */
  readonly queuedMax: number;
  readonly queuedBytesMax: number;
  /** A source is the submitter of a transaction: a client principal, a connection, an identity. */
  readonly sourceTransactionsMax: number;
  readonly sourceBytesMax: number;
  readonly sourceQueuedMax: number;
  readonly sourceQueuedBytesMax: number;
  readonly senderTransactionsMax: number;
  readonly senderBytesMax: number;
  /** Nonces from the account's own up to this many further are accepted. */
  readonly nonceWindow: number;
  readonly transactionSizeMax: number;
  readonly lifetimeMs: number;
  /** Of one that has been queued all the time. */
  readonly queuedLifetimeMs: number;
  /** Undefined where gas is free: then the first of two equal nonces wins, whatever they offer. */
  readonly fees: FeeRules | undefined;
};

export type FeeRules = {
  /** The least price per gas. */
  readonly priceMin: bigint;
  /** How much more, in percent, a transaction must offer to take the place of another. */
  readonly replacementBumpPercent: bigint;
};

/**
 * Sender addresses cost nothing to make, so limits per sender only keep one account's mistake
 * small; what protects the pool is the limit per source, which leaves half of it to the others.
 */
export const DEFAULT_POOL_OPTIONS: TxPoolOptions = {
  transactionsMax: 65_536,
  bytesMax: 128 * MEBIBYTE,
  queuedMax: 16_384,
  queuedBytesMax: 32 * MEBIBYTE,
  sourceTransactionsMax: 32_768,
  sourceBytesMax: 64 * MEBIBYTE,
  // Many callers may share an address, behind a proxy: the share is large, and the queue larger.
  sourceQueuedMax: 4_096,
  sourceQueuedBytesMax: 8 * MEBIBYTE,
  senderTransactionsMax: 1_024,
  senderBytesMax: 8 * MEBIBYTE,
  nonceWindow: 1_024,
  transactionSizeMax: 128 * 1024,
  // Longer than a night without a quorum: an acknowledged transaction must not be lost to an
  // outage.
  lifetimeMs: 24 * 60 * 60 * 1_000,
  // The missing nonce usually arrives within seconds; one that does not is unlikely to arrive at
  // all.
  queuedLifetimeMs: 15 * 60 * 1_000,
  fees: undefined,
};

/** What is kept of a block, each only if it was given. */
export type BlockFields = {
  readonly block?: Uint8Array;
  readonly certificate?: Uint8Array;
  readonly result?: Uint8Array;
  /** The signatures under the result. */
  readonly votes?: Uint8Array;
  readonly ethereumBlock?: Uint8Array;
  readonly receipts?: Uint8Array;
};

export type TransactionPosition = { readonly height: number; readonly index: number };

export type StoredBlock = BlockFields & { readonly height: number; readonly block: Uint8Array };

/** By which a block and its transactions are found. */
export type Indexes = {
  readonly blockHash: Uint8Array;
  readonly transactionHashes: readonly Uint8Array[];
};

/** The proof, checkable by anyone, that a block is final and is the result of what was ordered. */
export type BlockCertificate = {
  /** The network, as all signatures name it. */
  readonly net: Uint8Array;
  /** Of the block of the consensus chain that was executed. */
  readonly height: number;
  readonly consensusHash: Uint8Array;
  /** Headers of the consensus chain, encoded: from this height up to the certified one. */
  readonly headers: readonly Uint8Array[];
  /** The commit certificate of the last of them, encoded. */
  readonly commit: Uint8Array;
  /** The result that replicas signed: a hash over the Ethereum block. */
  readonly result: Uint8Array;
  /** At least f+1. */
  readonly votes: readonly ResultSignature[];
};

export type ResultSignature = {
  readonly replica: number;
  readonly epoch: number;
  readonly signature: Uint8Array;
};

/** What goes into one execution of the EVM and what comes out of it. */

/** A call or a creation from outside the EVM: depth 0. Nonce and fee are the caller's business. */
export type EvmMessage =
  | {
      readonly kind: "call";
      readonly caller: bigint;
      readonly to: bigint;
      readonly value: bigint;
      readonly data: Uint8Array;
      readonly gas: number;
      /** Forbids every change of state, as STATICCALL does. */
      readonly isStatic?: boolean;
    }
  | {
      readonly kind: "create";
      readonly caller: bigint;
      readonly value: bigint;
      /** The init code. Its size limit (EIP-3860) is a rule of transactions, checked there. */
      readonly data: Uint8Array;
      readonly gas: number;
      /** The caller's nonce that names the new contract: the transaction's. */
      readonly nonce: bigint;
    };

export type BlockContext = {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
  readonly coinbase: bigint;
  readonly gasLimit: bigint;
  readonly baseFee: bigint;
  readonly blobBaseFee: bigint;
  readonly prevRandao: bigint;
  /** The hash of an ancestor; asked only for the 256 blocks before this one. */
  blockHash(number: bigint): bigint;
};

export type TransactionContext = {
  readonly origin: bigint;
  /** The effective gas price. */
  readonly gasPrice: bigint;
  readonly blobHashes: readonly bigint[];
};

/** Why a frame failed and lost all its gas. */
export type FailureReason =
  | "OUT_OF_GAS"
  | "STACK_UNDERFLOW"
  | "STACK_OVERFLOW"
  | "INVALID_OPCODE"
  | "INVALID_JUMP"
  | "STATIC_VIOLATION"
  | "RETURN_DATA_OUT_OF_BOUNDS"
  | "INIT_CODE_TOO_LARGE"
  | "CODE_TOO_LARGE"
  | "CODE_STARTS_WITH_EF"
  | "CREATE_COLLISION"
  | "PRECOMPILE_FAILED"
  | "INSUFFICIENT_BALANCE"
  | "CALL_TOO_DEEP"
  | "NONCE_TOO_HIGH";

export type ExecutionResult = {
  /** "stopped": the stop flag ended it; the state is as before and the gas means nothing. */
  readonly status: "success" | "revert" | "failure" | "stopped";
  /** Set if and only if the status is "failure". */
  readonly reason: FailureReason | undefined;
  readonly gasLeft: number;
  /** What the call returned or reverted with; for a creation, the code that was stored. */
  readonly output: Uint8Array;
  /** The address of a creation, whether or not it succeeded. */
  readonly createdAddress: bigint | undefined;
};

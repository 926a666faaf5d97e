/** An unsigned message that is executed on the state after a block without changing it. */
import type { UnsignedTransaction } from "../chain/transaction.ts";

export type CallRequest = {
  readonly sender: bigint;
  readonly transaction: UnsignedTransaction;
  /** Accounts that differ from the state for this call. */
  readonly stateOverrides?: readonly AccountOverride[] | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
};

export type AccountOverride = {
  readonly address: bigint;
  readonly nonce?: bigint | undefined;
  readonly balance?: bigint | undefined;
  readonly code?: Uint8Array | undefined;
  /** Instead of all of its storage. */
  readonly storage?: readonly SlotOverride[] | undefined;
  /** Besides the rest of its storage. */
  readonly slots?: readonly SlotOverride[] | undefined;
  /** The precompile at the account's address moves to this address. */
  readonly precompileTarget?: bigint | undefined;
};

export type SlotOverride = { readonly slot: bigint; readonly value: bigint };

/** What the code sees of its block. */
export type BlockOverrides = {
  readonly number?: bigint | undefined;
  /** Seconds. */
  readonly timestamp?: bigint | undefined;
  readonly coinbase?: bigint | undefined;
  readonly gasLimit?: bigint | undefined;
  readonly baseFee?: bigint | undefined;
  readonly blobBaseFee?: bigint | undefined;
  readonly prevRandao?: bigint | undefined;
};

export type CallFailure =
  | { readonly kind: "reverted"; readonly output: Uint8Array }
  /** It ran out of gas or broke a rule of the EVM; `reason` is a code of the EVM. */
  | { readonly kind: "failed"; readonly reason: string; readonly gasLimit: bigint }
  /** It could not start; `code` is a code of transaction checks. */
  | { readonly kind: "refused"; readonly code: string; readonly limit?: bigint }
  | ReadFailure;

/** Why the node has no result, independent of the request. */
export type ReadFailure =
  /** It took longer than a call may. */
  | { readonly kind: "stopped" }
  /** The state of that block is not kept any more. */
  | { readonly kind: "pruned" }
  /** Too many calls wait already. */
  | { readonly kind: "busy" }
  /** The result has more than `limit` bytes. */
  | { readonly kind: "tooLarge"; readonly limit: number };

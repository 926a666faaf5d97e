import type { EvmLog } from "../evm/world-state.ts";
import type { ExecutionResult } from "../evm/message.ts";
import type { UnsignedTransaction } from "../chain/transaction.ts";
import type { BlobClaim } from "./transaction-fee.ts";

/** A transaction whose sender is known, by signature or by assumption (`call`). */
export type TransactionRequest = {
  readonly transaction: UnsignedTransaction;
  readonly sender: bigint;
  readonly blobs?: BlobClaim;
};

/** A transaction that was included, with all that its receipt needs. */
export type ExecutedTransaction = Pick<
  ExecutionResult,
  "status" | "reason" | "output" | "createdAddress"
> & {
  readonly gasUsed: bigint;
  /** Of `gasUsed`'s first reckoning, what was given back; 0 where the floor took it again. */
  readonly gasRefunded: number;
  readonly effectiveGasPrice: bigint;
  readonly logs: readonly EvmLog[];
  /** EIP-7702: the accounts whose authorization was applied, which used one of their nonces. */
  readonly authorities: readonly bigint[];
};

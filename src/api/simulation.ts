/** Simulated blocks: calls one after the other on the state after a block (eth_simulateV1). */
import type { AccountOverride, BlockOverrides } from "./call-request.ts";
import type { Header } from "../chain/header.ts";
import type { Log } from "../chain/bloom.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import type { UnsignedTransaction } from "../chain/transaction.ts";

export type SimulationRequest = {
  readonly blocks: readonly SimulatedBlockRequest[];
  /** Nonces, prices and balances must be right, as in a real block. */
  readonly isValidated: boolean;
  /** Transfers of the chain's own coin appear among the logs. */
  readonly hasTransferLogs: boolean;
};

export type SimulatedBlockRequest = {
  readonly stateOverrides: readonly AccountOverride[];
  readonly blockOverrides: BlockOverrides;
  readonly calls: readonly SimulatedCallRequest[];
};

export type SimulatedCallRequest = {
  readonly sender: bigint;
  readonly transaction: UnsignedTransaction;
  /** Whether the caller gave them; otherwise they follow from what came before. */
  readonly hasNonce: boolean;
  readonly hasGas: boolean;
};

export type SimulatedBlock = {
  readonly header: Header;
  readonly hash: Uint8Array;
  /** In bytes. */
  readonly size: number;
  /** They are unsigned: their signatures are zero. */
  readonly transactions: readonly RecoveredTransaction[];
  /** One for each. */
  readonly calls: readonly SimulatedCall[];
};

export type SimulatedCall = {
  readonly status: "success" | "revert" | "failure";
  readonly output: Uint8Array;
  /** A code of the EVM, if the status is "failure". */
  readonly reason: string | undefined;
  readonly gasUsed: bigint;
  /** Before refunds. */
  readonly gasUsedMax: bigint;
  readonly logs: readonly Log[];
};

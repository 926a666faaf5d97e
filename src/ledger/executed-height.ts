/** What one height of the consensus chain led to. Hashes are bytes. */
import type { Block } from "../chain/block.ts";
import type { Receipt } from "../chain/receipt.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import type {
  BatchResult,
  DroppedTransaction,
  IncludedTransaction,
} from "../execution/execute-batch.ts";
import type { AccountState } from "../txpool/tx-pool.ts";

/** An Ethereum block that was just made. */
export type NewBlock = {
  readonly block: Block;
  readonly hash: Uint8Array;
  readonly transactions: readonly RecoveredTransaction[];
  readonly receipts: readonly Receipt[];
};

export type ExecutedHeight = {
  readonly height: number;
  readonly consensusHash: Uint8Array;
  readonly result: Uint8Array;
  /** Undefined if the batch made no Ethereum block. */
  readonly block: NewBlock | undefined;
  /** The last Ethereum block so far. */
  readonly number: bigint;
  readonly dropped: readonly DroppedTransaction[];
  /** The touched accounts (`touchedAddresses`) as this height left them. */
  readonly accounts: readonly AccountState[];
};

/**
 * The accounts from which a mempool has to go on: the senders and recipients of everything that was
 * ordered, dropped or not, and the EIP-7702 authorities whose nonce was used. An account that only
 * a contract paid is not among them: finding those would cost a walk over all changes of the block.
 */
export function touchedAddresses(
  transactions: readonly RecoveredTransaction[],
  included: readonly IncludedTransaction[],
): ReadonlySet<bigint> {
  const addresses = new Set<bigint>();
  for (const { sender, transaction } of transactions) {
    addresses.add(sender);
    if (transaction.to !== undefined) addresses.add(transaction.to);
  }
  for (const { execution } of included) {
    for (const authority of execution.authorities) addresses.add(authority);
  }
  return addresses;
}

export function newBlockOf({ block, included }: BatchResult): NewBlock | undefined {
  if (block === undefined) return undefined;
  return {
    ...block,
    transactions: included.map(({ transaction }) => transaction),
    receipts: included.map(({ receipt }) => receipt),
  };
}

/**
 * What the execution thread tells the main thread of a height: only what admission, the core and
 * the logs need, packed so that little is copied between the threads. Hashes are bytes.
 */
import type { ExecutedHeight } from "../../ledger/executed-height.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import { isRetryable, type DropCode } from "../../execution/drop-reason.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";

export type Drop = {
  readonly id: Uint8Array;
  readonly code: DropCode;
  /** The transaction itself if it may be included later. */
  readonly retry: Uint8Array | undefined;
};

export type ExecutionReport = {
  readonly height: number;
  readonly result: Uint8Array;
  /** The last Ethereum block so far. */
  readonly blockNumber: bigint;
  readonly drops: readonly Drop[];
  readonly included: readonly Uint8Array[];
  /** The touched accounts as this height left them. */
  readonly accounts: readonly AccountState[];
};

export function executionReport(executed: ExecutedHeight): ExecutionReport {
  const { height, result, number, block, dropped, accounts } = executed;
  return {
    height,
    result,
    blockNumber: number,
    included: packHashes(block?.transactions.map(({ hash }) => hash) ?? []),
    drops: dropped.map(({ transaction, reason: { code } }) => {
      // A view would be copied with the whole block that it is a view of.
      const retry = isRetryable(code) ? Uint8Array.from(transaction.encoded) : undefined;
      return { id: transaction.hash, code, retry };
    }),
    accounts,
  };
}

/** Windows into one block of memory: the other thread gets that instead of one for each. */
function packHashes(hashes: readonly Uint8Array[]): Uint8Array[] {
  const packed = new Uint8Array(hashes.length * HASH_SIZE);
  return hashes.map((hash, index) => {
    packed.set(hash, index * HASH_SIZE);
    return packed.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE);
  });
}

/** What a transaction pays per gas, and per blob gas where a test asks for blobs. */
import { maxCost, type UnsignedTransaction } from "../chain/transaction.ts";

const BLOB_GAS = 131_072n; // EIP-4844: the gas of one blob

/**
 * The blobs of an EIP-4844 transaction. The chain refuses such transactions before they get here;
 * the rules are kept because the official state tests contain them.
 */
export type BlobClaim = {
  readonly versionedHashes: readonly bigint[];
  readonly maxFeePerBlobGas: bigint;
  readonly countMax: number;
};

/** EIP-1559: the base fee plus as much of the tip as the cap leaves room for. */
export function effectiveGasPrice(transaction: UnsignedTransaction, baseFee: bigint): bigint {
  if (transaction.type === 0 || transaction.type === 1) return transaction.gasPrice;
  const wished = baseFee + transaction.maxPriorityFeePerGas;
  return wished < transaction.maxFeePerGas ? wished : transaction.maxFeePerGas;
}

/** The balance that the sender must have before anything runs. */
export function upfrontCost(
  transaction: UnsignedTransaction,
  blobs: BlobClaim | undefined,
): bigint {
  const cost = maxCost(transaction);
  return blobs === undefined ? cost : cost + blobCost(blobs, blobs.maxFeePerBlobGas);
}

export function blobCost(blobs: BlobClaim | undefined, feePerBlobGas: bigint): bigint {
  if (blobs === undefined) return 0n;
  return BLOB_GAS * BigInt(blobs.versionedHashes.length) * feePerBlobGas;
}

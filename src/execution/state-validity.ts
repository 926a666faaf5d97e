/**
 * The rules that decide whether a transaction is taken, and where each one is applied. A rule has
 * one function; a node that applies it earlier than execution only saves the network the work.
 *
 * | rule                                   | submit (client) | admission (replica) | execution |
 * | -------------------------------------- | --------------- | ------------------- | --------- |
 * | form, chain id, gas, size, signature:  | x               | x                   | x         |
 * |   src/chain/transaction-validity.ts    |                 |                     |           |
 * | nonce and balance, with the mempool:   | x               | x                   |           |
 * |   src/txpool/tx-pool.ts                |                 |                     |           |
 * | nonce, fees and balance, on the state: |                 |                     | x         |
 * |   checkAgainstState                    |                 |                     |           |
 * | EIP-3607: checkSenderCode              | x               |                     | x         |
 * | write permission: checkPermission      | x               | x                   | x         |
 *
 * Admission leaves EIP-3607 to execution: a key whose address holds a contract can only come from
 * the genesis, and the check would cost a question to the execution thread for every transaction.
 */
import { isDelegation } from "../chain/delegation.ts";
import { type Fork, isActive } from "../chain/fork.ts";
import { maxGasPrice, type UnsignedTransaction } from "../chain/transaction.ts";
import type { BlockContext } from "../evm/message.ts";
import type { WorldState } from "../evm/world-state.ts";
import { Journal } from "../state/journal.ts";
import type { StateReader } from "../state/state-reader.ts";
import type { DropReason } from "./drop-reason.ts";
import type { PermissionPolicy } from "./permission-policy.ts";
import { type BlobClaim, upfrontCost } from "./transaction-fee.ts";
import type { TransactionRequest } from "./transaction-request.ts";

const NONCE_MAX = 2n ** 64n - 1n; // EIP-2681
const BLOB_HASH_VERSION = 1n;

/** Undefined means it may. One check, one code; the first that fails is the reason. */
export function checkAgainstState(
  world: WorldState,
  request: TransactionRequest,
  block: BlockContext,
  { blockGasLeft, fork }: { readonly blockGasLeft: bigint; readonly fork: Fork },
): DropReason | undefined {
  const { transaction, sender, blobs } = request;
  const { gasLimit } = transaction;
  if (gasLimit > block.gasLimit) {
    return { code: "TX_GAS_LIMIT_EXCEEDED", limit: block.gasLimit };
  }
  if (gasLimit > blockGasLeft) return { code: "TX_BLOCK_GAS_EXHAUSTED", limit: blockGasLeft };
  return (
    checkNonce(world.nonce(sender), transaction.nonce) ??
    checkSenderCode(world, sender, fork) ??
    checkFees(transaction, blobs, block) ??
    checkBalance(world.balance(sender), upfrontCost(transaction, blobs))
  );
}

function checkNonce(expected: bigint, nonce: bigint): DropReason | undefined {
  if (nonce < expected) return { code: "TX_NONCE_TOO_LOW", limit: expected };
  if (nonce > expected) return { code: "TX_NONCE_TOO_HIGH", limit: expected };
  if (nonce === NONCE_MAX) return { code: "TX_NONCE_EXHAUSTED" };
  return undefined;
}

/** What the client node asks of its state before it accepts a transaction. */
export function checkSubmission(
  state: StateReader,
  request: TransactionRequest,
  { fork, permits }: { readonly fork: Fork; readonly permits: PermissionPolicy | undefined },
): DropReason | undefined {
  const world = new Journal(state);
  return checkSenderCode(world, request.sender, fork) ?? checkPermission(permits, world, request);
}

/** SPEC A3. */
export function checkPermission(
  permits: PermissionPolicy | undefined,
  world: WorldState,
  request: TransactionRequest,
): DropReason | undefined {
  if (permits === undefined || permits(world, request)) return undefined;
  return { code: "TX_PERMISSION_DENIED" };
}

/** EIP-3607: a contract signs nothing. A delegated account (EIP-7702) is still its key's. */
function checkSenderCode(world: WorldState, sender: bigint, fork: Fork): DropReason | undefined {
  const { bytes } = world.code(sender);
  if (bytes.length === 0) return undefined;
  if (isActive("prague", fork) && isDelegation(bytes)) return undefined;
  return { code: "TX_SENDER_HAS_CODE" };
}

function checkFees(
  transaction: UnsignedTransaction,
  blobs: BlobClaim | undefined,
  block: BlockContext,
): DropReason | undefined {
  if (maxGasPrice(transaction) < block.baseFee) {
    return { code: "TX_FEE_BELOW_BASE_FEE", limit: block.baseFee };
  }
  if (transaction.type === 2 || transaction.type === 4) {
    const { maxPriorityFeePerGas, maxFeePerGas } = transaction;
    if (maxPriorityFeePerGas > maxFeePerGas) return { code: "TX_PRIORITY_FEE_ABOVE_MAX_FEE" };
  }
  return blobs === undefined ? undefined : checkBlobs(blobs, block);
}

/** EIP-4844. */
function checkBlobs(blobs: BlobClaim, block: BlockContext): DropReason | undefined {
  const { versionedHashes, maxFeePerBlobGas, countMax } = blobs;
  if (versionedHashes.length === 0 || versionedHashes.length > countMax) {
    return { code: "TX_BLOB_HASHES_INVALID", limit: BigInt(countMax) };
  }
  if (versionedHashes.some((hash) => hash >> 248n !== BLOB_HASH_VERSION)) {
    return { code: "TX_BLOB_HASHES_INVALID" };
  }
  if (maxFeePerBlobGas < block.blobBaseFee) {
    return { code: "TX_BLOB_FEE_TOO_LOW", limit: block.blobBaseFee };
  }
  return undefined;
}

function checkBalance(balance: bigint, cost: bigint): DropReason | undefined {
  return balance < cost ? { code: "TX_INSUFFICIENT_BALANCE", limit: cost } : undefined;
}

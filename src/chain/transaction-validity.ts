/** The checks that need no state. src/execution/state-validity.ts lists all rules. */
import { err, ok, type Result } from "../base/result.ts";
import { isActive, type Fork } from "./fork.ts";
import { intrinsicGas } from "./intrinsic-gas.ts";
import { decodeTransaction } from "./transaction-decoder.ts";
import type { TransactionError } from "./transaction-error.ts";
import { recoverSender, type RecoveredTransaction } from "./transaction-sender.ts";
import type { Transaction, UnsignedTransaction } from "./transaction.ts";

/** What a chain asks of a transaction besides its form. */
export type TransactionRules = {
  readonly chainId: bigint;
  readonly fork: Fork;
  /** The most gas that one transaction may ask for; undefined where only blocks are bounded. */
  readonly transactionGasMax: bigint | undefined;
};

const INITCODE_SIZE_MAX = 49_152; // EIP-3860

/**
 * Form, rules of the chain and signature, in the order of their cost. `senderOf` may know the
 * sender already; recovering one takes longer than all else here. The result keeps views into
 * `encoded`.
 */
export function checkEncodedTransaction(
  encoded: Uint8Array,
  hash: Uint8Array,
  rules: TransactionRules,
  senderOf: (transaction: Transaction) => bigint | undefined = recoverSender,
): Result<RecoveredTransaction, TransactionError> {
  const decoded = decodeTransaction(encoded);
  if (!decoded.ok) return decoded;
  const transaction = decoded.value;
  const fault = checkTransaction(transaction, rules);
  if (fault !== undefined) return err(fault);
  const sender = senderOf(transaction);
  if (sender === undefined) return err({ code: "TX_SENDER_UNRECOVERABLE" });
  return ok({ transaction, encoded, hash, sender });
}

/**
 * Whether a decoded transaction may ever be included on this chain, whatever the state; undefined
 * means it may. Every replica runs this before it pools, proposes or executes a transaction.
 */
export function checkTransaction(
  transaction: UnsignedTransaction,
  rules: TransactionRules,
): TransactionError | undefined {
  if (transaction.type === 4 && !isActive("prague", rules.fork)) {
    return { code: "TX_TYPE_NOT_ACTIVE" };
  }
  if (transaction.chainId !== undefined && transaction.chainId !== rules.chainId) {
    return { code: "TX_CHAIN_ID_WRONG", limit: rules.chainId };
  }
  if (rules.transactionGasMax !== undefined && transaction.gasLimit > rules.transactionGasMax) {
    return { code: "TX_GAS_LIMIT_ABOVE_MAXIMUM", limit: rules.transactionGasMax };
  }
  if (transaction.to === undefined && transaction.data.length > INITCODE_SIZE_MAX) {
    return { code: "TX_INITCODE_TOO_LARGE", limit: BigInt(INITCODE_SIZE_MAX) };
  }
  const { intrinsic, floor } = intrinsicGas(transaction, rules.fork);
  if (transaction.gasLimit < BigInt(intrinsic)) {
    return { code: "TX_INTRINSIC_GAS_TOO_LOW", limit: BigInt(intrinsic) };
  }
  if (transaction.gasLimit < BigInt(floor)) {
    return { code: "TX_FLOOR_GAS_TOO_LOW", limit: BigInt(floor) };
  }
  return undefined;
}

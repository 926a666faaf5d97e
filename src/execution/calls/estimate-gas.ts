/**
 * eth_estimateGas: the least gas limit with which the transaction succeeds. Found by search,
 * because what a call is given depends on what is left (63/64, EIP-150) and refunds come last.
 */
import { err, ok, type Result } from "../../base/result.ts";
import type { UnsignedTransaction } from "../../chain/transaction.ts";
import { accessListOf, maxGasPrice } from "../../chain/transaction.ts";
import type { FailureReason } from "../../evm/message.ts";
import { Journal } from "../../state/journal.ts";
import { type CallEnvironment, runCall } from "./call.ts";
import type { DropReason } from "../drop-reason.ts";
import type { ExecutedTransaction, TransactionRequest } from "../transaction-request.ts";

export type EstimateError =
  | { readonly kind: "refused"; readonly reason: DropReason }
  /** The transaction reverts even with all the gas it may have: the data says why. */
  | { readonly kind: "reverted"; readonly output: Uint8Array }
  /** It fails even with `gasLimit`, which is all it may have or all the sender can pay. */
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly gasLimit: bigint }
  | { readonly kind: "stopped" };

const TRANSFER_GAS = 21_000n;
/** EIP-150: a call keeps 1/64; so this much more than was used is likely enough. */
const CALL_STIPEND_GAS = 2_300n;

/** `gasMax` bounds the search; the sender's balance may bound it further. */
export function estimateGas(
  environment: CallEnvironment,
  request: TransactionRequest,
  gasMax: bigint,
): Result<bigint, EstimateError> {
  const allowance = affordableGas(environment, request);
  const highest = allowance !== undefined && allowance < gasMax ? allowance : gasMax;
  if (isPlainTransfer(environment, request) && highest >= TRANSFER_GAS) {
    const transfer = runWith(environment, request, TRANSFER_GAS);
    if (transfer.ok && transfer.value.status === "success") return ok(TRANSFER_GAS);
  }
  const first = runWith(environment, request, highest);
  if (!first.ok) return err({ kind: "refused", reason: first.error });
  const problem = problemOf(first.value, highest);
  if (problem !== undefined) return err(problem);
  return search(environment, request, first.value, highest);
}

/** Invariant of the search: `low` is not enough, `high` is. */
function search(
  environment: CallEnvironment,
  request: TransactionRequest,
  first: ExecutedTransaction,
  highest: bigint,
): Result<bigint, EstimateError> {
  let low = first.gasUsed - 1n;
  let high = highest;
  // Most transactions need a little more than they use: try that before halving the range.
  const likely = ((first.gasUsed + BigInt(first.gasRefunded) + CALL_STIPEND_GAS) * 64n) / 63n;
  let next = likely < high ? likely : (low + high) / 2n;
  while (low + 1n < high) {
    // Runs that are too short to be stopped are many.
    if (environment.engine?.shouldStop?.() === true) return err({ kind: "stopped" });
    const result = runWith(environment, request, next);
    if (result.ok && result.value.status === "stopped") return err({ kind: "stopped" });
    if (result.ok && result.value.status === "success") high = next;
    else low = next;
    // Towards the low end: gas limits are near what is used, not near the maximum.
    const middle = (low + high) / 2n;
    next = middle > low * 2n && low > 0n ? low * 2n : middle;
  }
  return ok(high);
}

function runWith(
  environment: CallEnvironment,
  request: TransactionRequest,
  gasLimit: bigint,
): Result<ExecutedTransaction, DropReason> {
  const transaction: UnsignedTransaction = { ...request.transaction, gasLimit };
  return runCall(environment, { ...request, transaction });
}

function problemOf(result: ExecutedTransaction, gasLimit: bigint): EstimateError | undefined {
  switch (result.status) {
    case "success":
      return undefined;
    case "revert":
      return { kind: "reverted", output: result.output };
    case "failure":
      return { kind: "failed", reason: result.reason ?? "OUT_OF_GAS", gasLimit };
    case "stopped":
      return { kind: "stopped" };
  }
}

/** What the sender can pay for besides the value; undefined where gas is free. */
function affordableGas(
  { state, prepare }: CallEnvironment,
  { transaction, sender }: TransactionRequest,
): bigint | undefined {
  const price = maxGasPrice(transaction);
  if (price === 0n) return undefined;
  const journal = new Journal(state);
  prepare?.(journal);
  const left = journal.balance(sender) - transaction.value;
  return left <= 0n ? 0n : left / price;
}

/** To an account without code, carrying nothing: its cost is known. */
function isPlainTransfer(
  { state, prepare }: CallEnvironment,
  { transaction }: TransactionRequest,
): boolean {
  const { to, data, type } = transaction;
  if (to === undefined || data.length > 0 || type === 4) return false;
  if (accessListOf(transaction).length > 0) return false;
  const journal = new Journal(state);
  prepare?.(journal);
  return journal.code(to).bytes.length === 0;
}

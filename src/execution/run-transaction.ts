/**
 * Executes one transaction, from its validity checks to its fee. The order of the steps is that of
 * the execution specification; changing it forks the chain.
 */
import { err, ok, type Result } from "../base/result.ts";
import type { Fork } from "../chain/fork.ts";
import { intrinsicGas } from "../chain/intrinsic-gas.ts";
import { accessListOf } from "../chain/transaction.ts";
import { checkTransaction } from "../chain/transaction-validity.ts";
import type { Evm } from "../evm/evm.ts";
import type { BlockContext, ExecutionResult, EvmMessage } from "../evm/message.ts";
import type { Tracer } from "../evm/tracer.ts";
import type { Journal } from "../state/journal.ts";
import type { DropReason } from "./drop-reason.ts";
import type { PermissionPolicy } from "./permission-policy.ts";
import type { SlowWorkMeter } from "./slow-work-meter.ts";
import { applyAuthorizations } from "./set-code.ts";
import { checkAgainstState, checkPermission } from "./state-validity.ts";
import { blobCost, effectiveGasPrice } from "./transaction-fee.ts";
import type { ExecutedTransaction, TransactionRequest } from "./transaction-request.ts";

/** The machine and the state it runs on; the rules that do not change from block to block. */
export type TransactionEngine = {
  readonly evm: Evm;
  /** The state that `evm` works on. */
  readonly journal: Journal;
  readonly chainId: bigint;
  readonly fork: Fork;
  /** The most gas that one transaction may ask for; undefined where only blocks are bounded. */
  readonly transactionGasMax: bigint | undefined;
  readonly meter?: SlowWorkMeter | undefined;
};

const REFUND_QUOTIENT = 5; // EIP-3529
/** Gas is counted in numbers; no real limit comes near this one. */
const COUNTED_GAS_MAX = Number.MAX_SAFE_INTEGER;

const NO_BLOBS: readonly bigint[] = [];

/** Runs the transaction, or says why it may not run; then the state is untouched. */
export function runTransaction(
  engine: TransactionEngine,
  request: TransactionRequest,
  block: BlockContext,
  blockGasLeft: bigint,
  permits?: PermissionPolicy,
): Result<ExecutedTransaction, DropReason> {
  const { journal } = engine;
  // The permission last, so that a transaction that may be included later is not refused for good.
  const reason =
    checkTransaction(request.transaction, engine) ??
    checkAgainstState(journal, request, block, { blockGasLeft, fork: engine.fork }) ??
    checkPermission(permits, journal, request);
  if (reason !== undefined) return err(reason);
  engine.meter?.beginTransaction(engine.evm, Number(request.transaction.gasLimit));
  const executed = executeTransaction(engine, request, block);
  const isExhausted = engine.meter?.isExhausted === true;
  const isOversized = engine.meter?.isOversized === true;
  engine.meter?.endTransaction();
  if (isOversized) return err({ code: "TX_SLOW_WORK_EXCEEDED" });
  if (isExhausted) return err({ code: "TX_BLOCK_SLOW_WORK_EXHAUSTED" });
  return ok(executed);
}

/** For transactions that were checked, and for calls, which need not pass every check. */
export function executeTransaction(
  engine: TransactionEngine,
  request: TransactionRequest,
  block: BlockContext,
  tracer?: Tracer,
): ExecutedTransaction {
  const { journal, evm } = engine;
  const { transaction, sender, blobs } = request;
  const gasPrice = effectiveGasPrice(transaction, block.baseFee);
  const gasLimit = Math.min(Number(transaction.gasLimit), COUNTED_GAS_MAX);
  const { intrinsic, floor } = intrinsicGas(transaction, engine.fork);

  journal.beginTransaction();
  const start = journal.snapshot();
  buyGas(engine, request, block, gasPrice);
  journal.setNonce(sender, transaction.nonce + 1n);
  warmUp(engine, request, block);
  const authorities = applyAuthorizations(journal, transaction, engine.chainId);
  const tx = { origin: sender, gasPrice, blobHashes: blobs?.versionedHashes ?? NO_BLOBS };
  const result = evm.execute(toMessage(request, gasLimit - intrinsic), { block, tx, tracer });
  if (result.status === "stopped" || engine.meter?.isExhausted === true) {
    journal.revertTo(start);
    journal.endTransaction();
    return {
      ...outcomeOf(result),
      gasUsed: 0n,
      gasRefunded: 0,
      effectiveGasPrice: 0n,
      logs: [],
      authorities: [],
    };
  }

  const spent = gasLimit - result.gasLeft;
  const refund = Math.min(Math.floor(spent / REFUND_QUOTIENT), journal.refund());
  const isUsedUp = result.gasLeft === 0 && refund === 0;
  const counted = BigInt(Math.max(spent - refund, floor));
  const gasUsed = isUsedUp ? transaction.gasLimit : counted;
  settle(engine, request, block, gasPrice, gasUsed);
  const logs = journal.endTransaction();
  const gasRefunded = spent - refund < floor ? 0 : refund;
  return {
    ...outcomeOf(result),
    gasUsed,
    gasRefunded,
    effectiveGasPrice: gasPrice,
    logs,
    authorities,
  };
}

/** All gas is bought before anything runs, at the price that holds in the end. */
function buyGas(
  { journal }: TransactionEngine,
  { transaction, sender, blobs }: TransactionRequest,
  block: BlockContext,
  gasPrice: bigint,
): void {
  const cost = transaction.gasLimit * gasPrice + blobCost(blobs, block.blobBaseFee);
  if (cost > 0n) journal.setBalance(sender, journal.balance(sender) - cost);
}

/** EIP-2929, EIP-2930, EIP-3651: what the transaction names itself is warm. */
function warmUp(
  { journal, evm }: TransactionEngine,
  { transaction, sender }: TransactionRequest,
  block: BlockContext,
): void {
  journal.warmAddress(sender);
  if (transaction.to !== undefined) journal.warmAddress(transaction.to);
  journal.warmAddress(block.coinbase);
  journal.keepWarm(evm.precompiles);
  for (const { address, storageKeys } of accessListOf(transaction)) {
    journal.warmAddress(address);
    for (const key of storageKeys) journal.warmSlot(address, key);
  }
}

function toMessage({ transaction, sender }: TransactionRequest, gas: number): EvmMessage {
  const { to, value, data, nonce } = transaction;
  return to === undefined
    ? { kind: "create", caller: sender, value, data, gas, nonce }
    : { kind: "call", caller: sender, to, value, data, gas };
}

/** Unused gas goes back to the sender, the tip to the coinbase; the base fee is burned. */
function settle(
  { journal }: TransactionEngine,
  { transaction, sender }: TransactionRequest,
  block: BlockContext,
  gasPrice: bigint,
  gasUsed: bigint,
): void {
  const returned = (transaction.gasLimit - gasUsed) * gasPrice;
  if (returned > 0n) journal.setBalance(sender, journal.balance(sender) + returned);
  const tip = gasUsed * (gasPrice - block.baseFee);
  if (tip > 0n) journal.setBalance(block.coinbase, journal.balance(block.coinbase) + tip);
  else journal.touch(block.coinbase);
}

function outcomeOf(
  result: ExecutionResult,
): Pick<ExecutedTransaction, "status" | "reason" | "output" | "createdAddress"> {
  const { status, reason, output, createdAddress } = result;
  return { status, reason, output, createdAddress };
}

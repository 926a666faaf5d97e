/**
 * eth_call: a message on any retained state that changes nothing. Sender, nonce and balance are
 * taken as given, because the message is unsigned. Gas and an injected stop flag bound the work.
 */
import { err, ok, type Result } from "../../base/result.ts";
import { checkTransaction } from "../../chain/transaction-validity.ts";
import type { BlockContext } from "../../evm/message.ts";
import type { Tracer } from "../../evm/tracer.ts";
import type { StateReader } from "../../state/state-reader.ts";
import type { DropReason } from "../drop-reason.ts";
import type { ChainRules } from "../../chain/chain-rules.ts";
import { createEngine, type EngineOptions } from "../engine.ts";
import { executeTransaction, type TransactionEngine } from "../run-transaction.ts";
import { upfrontCost } from "../transaction-fee.ts";
import type { ExecutedTransaction, TransactionRequest } from "../transaction-request.ts";

/** Where and under which bounds a call runs. */
export type CallEnvironment = {
  readonly state: StateReader;
  readonly block: BlockContext;
  readonly rules: ChainRules;
  /** A stop flag that is up ends the call with status "stopped". */
  readonly engine?: EngineOptions | undefined;
  /** Changes made before the call, for state overrides. */
  readonly prepare?: ((journal: TransactionEngine["journal"]) => void) | undefined;
  readonly tracer?: Tracer | undefined;
  /** For a tracer that looks at the state, too; it has not changed yet. */
  readonly createTracer?: ((journal: TransactionEngine["journal"]) => Tracer) | undefined;
};

/** Runs the call; the error is for calls that could never start, whatever the code does. */
export function runCall(
  environment: CallEnvironment,
  request: TransactionRequest,
): Result<ExecutedTransaction, DropReason> {
  const { state, rules, prepare } = environment;
  const engine = createEngine(
    { ...rules, transactionGasMax: undefined },
    state,
    environment.engine,
  );
  prepare?.(engine.journal);
  const { transaction, sender } = request;
  const reason = checkTransaction(transaction, engine);
  if (reason !== undefined) return err(reason);
  const cost = upfrontCost(transaction, undefined);
  if (engine.journal.balance(sender) < cost) {
    return err({ code: "TX_INSUFFICIENT_BALANCE", limit: cost });
  }
  const tracer = environment.createTracer?.(engine.journal) ?? environment.tracer;
  const executed = executeTransaction(engine, request, callBlock(environment, request), tracer);
  // Without the precompile that was left out the rest of it means nothing.
  const isOver = engine.meter?.isExhausted === true;
  return ok(isOver ? { ...executed, status: "stopped" } : executed);
}

/** A call that names no price pays none, whatever the base fee: then BASEFEE reads as 0, too. */
function callBlock(
  environment: CallEnvironment,
  { transaction }: TransactionRequest,
): BlockContext {
  const { block } = environment;
  const isFree =
    transaction.type === 0 || transaction.type === 1
      ? transaction.gasPrice === 0n
      : transaction.maxFeePerGas === 0n;
  return isFree ? { ...block, baseFee: 0n } : block;
}

/** Puts together what runs transactions: the rules of the chain, a journal and an EVM on it. */
import type { TransactionRules } from "../chain/transaction-validity.ts";
import type { AnalyzedCodeCache } from "../evm/analyzed-code.ts";
import { Evm } from "../evm/evm.ts";
import type { Precompile } from "../evm/precompile.ts";
import { precompilesOf } from "../evm/precompiles/registry.ts";
import { Journal } from "../state/journal.ts";
import type { StateReader } from "../state/state-reader.ts";
import type { SlowWorkMeter } from "./slow-work-meter.ts";
import type { TransactionEngine } from "./run-transaction.ts";

export type EngineOptions = {
  /** Analyses of code that outlive the engine: they pay off over many blocks or calls. */
  readonly codes?: AnalyzedCodeCache | undefined;
  /** Looked at by work done; undefined for blocks, whose slow work must not depend on it. */
  readonly shouldStop?: (() => boolean) | undefined;
  /** The most bytes that one hash may take where `shouldStop` is given: no end by default. */
  readonly bulkBytesMax?: number | undefined;
  /** The most opcodes in a row at which `shouldStop` is not looked at: no end by default. */
  readonly runMax?: number | undefined;
  /** Counts the slow work; what runs out of it ends as if the stop flag were up. */
  readonly meter?: SlowWorkMeter | undefined;
  /** Instead of those of the fork. */
  readonly precompiles?: ReadonlyMap<bigint, Precompile> | undefined;
};

/** One engine serves one block, or one call: its journal holds all changes since `state`. */
export function createEngine(
  rules: TransactionRules,
  state: StateReader,
  { codes, shouldStop, bulkBytesMax, runMax, meter, precompiles }: EngineOptions = {},
): TransactionEngine {
  const { chainId, fork, transactionGasMax } = rules;
  const journal = new Journal(state);
  const known = precompiles ?? precompilesOf(fork);
  const metered = meter?.meter(known) ?? known;
  // What ran out of precompiles is not included: there is no point in going on.
  const isOver =
    meter === undefined ? shouldStop : () => meter.isExhausted || shouldStop?.() === true;
  const stop = isOver === undefined ? {} : { shouldStop: isOver };
  const preemption =
    shouldStop === undefined || isOver === undefined
      ? undefined
      : {
          isPreempted: isOver,
          bulkBytesMax: bulkBytesMax ?? Infinity,
          runMax: runMax ?? Infinity,
        };
  const evm = new Evm(
    { fork, chainId },
    { world: journal, precompiles: metered, codes, preemption, ...stop },
  );
  return { evm, journal, chainId, fork, transactionGasMax, meter };
}

/** Executes transactions again with a tracer on each step. Results are ready JSON text. */
import { err, ok, type Result } from "../../base/result.ts";
import type { CallFailure, CallRequest } from "../../api/call-request.ts";
import type { Header } from "../../chain/header.ts";
import type { TraceOptions } from "../../api/trace-options.ts";
import type { UnsignedTransaction } from "../../chain/transaction.ts";
import { blockContextOf } from "../block-context.ts";
import { runCall } from "../calls/call.ts";
import { createEngine } from "../engine.ts";
import { callEnvironment, type ReadBounds, type ReadSource } from "../calls/read-environment.ts";
import { executeTransaction } from "../run-transaction.ts";
import { createTrace } from "./create-trace.ts";
import { type ExecutionTrace, TraceRoom } from "./execution-trace.ts";

export type TracedBlock = {
  /** Of the block that has the transactions; it runs on the state after its parent. */
  readonly header: Header;
  /** From the first of the block to the last that is traced. */
  readonly transactions: readonly {
    readonly sender: bigint;
    readonly transaction: UnsignedTransaction;
  }[];
  /** The place of the first that is traced. */
  readonly firstTraced: number;
  readonly options: TraceOptions;
};

/** The traces of the last transactions, in their order. */
export function traceTransactions(
  { header, transactions, firstTraced, options }: TracedBlock,
  source: ReadSource,
  bounds: ReadBounds,
): Result<readonly string[], CallFailure> {
  const { rules, codes } = source;
  const room = new TraceRoom(bounds.resultBytesMax);
  const shouldStop = (): boolean => room.isExceeded || bounds.shouldStop();
  const state = source.stateAt(header.number - 1n);
  const engine = createEngine(rules, state, { codes, shouldStop });
  const block = blockContextOf(header, (number) => source.blockHash(number));
  const texts: string[] = [];
  for (const [index, request] of transactions.entries()) {
    if (bounds.shouldStop()) return err({ kind: "stopped" });
    const { journal } = engine;
    const setting = { journal, request, coinbase: header.coinbase, room };
    const trace = index < firstTraced ? undefined : createTrace(options, setting, engine.chainId);
    const executed = executeTransaction(engine, request, block, trace?.hooks);
    if (room.isExceeded) return err({ kind: "tooLarge", limit: room.limit });
    if (executed.status === "stopped") return err({ kind: "stopped" });
    if (trace !== undefined) texts.push(JSON.stringify(trace.result(executed)));
  }
  return ok(texts);
}

export type TracedCall = {
  readonly request: CallRequest;
  readonly header: Header;
  readonly options: TraceOptions;
};

export function traceCall(
  { request, header, options }: TracedCall,
  source: ReadSource,
  bounds: ReadBounds,
): Result<string, CallFailure> {
  const room = new TraceRoom(bounds.resultBytesMax);
  const bounded = { ...bounds, shouldStop: () => room.isExceeded || bounds.shouldStop() };
  const environment = callEnvironment(source, bounded, header, request);
  let trace: ExecutionTrace | undefined;
  const called = runCall(
    {
      ...environment,
      createTracer: (journal) => {
        const { coinbase } = environment.block;
        const setting = { journal, request, coinbase, room };
        trace = createTrace(options, setting, source.rules.chainId);
        return trace.hooks;
      },
    },
    request,
  );
  if (!called.ok) return err({ kind: "refused", ...called.error });
  if (room.isExceeded) return err({ kind: "tooLarge", limit: room.limit });
  if (called.value.status === "stopped") return err({ kind: "stopped" });
  return ok(JSON.stringify(trace?.result(called.value) ?? {}));
}

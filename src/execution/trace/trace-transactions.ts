/** Executes transactions again with a tracer on each step. Results are ready JSON text. */
import { invariant } from "../../base/invariant.ts";
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
import { type ExecutionTrace, type Json, TraceRoom } from "./execution-trace.ts";

export type TracedBlock = {
  /** Of the block that has the transactions; it runs on the state after its parent. */
  readonly header: Header;
  /** From the first of the block to the last that is traced. */
  readonly transactions: readonly {
    readonly sender: bigint;
    readonly transaction: UnsignedTransaction;
    readonly hash: Uint8Array;
  }[];
  /** The place of the first that is traced. */
  readonly firstTraced: number;
  readonly options: TraceOptions;
};

/** The traces of the last transactions, in their order. */
export function traceTransactions(
  block: TracedBlock,
  source: ReadSource,
  bounds: ReadBounds,
): Result<readonly string[], CallFailure> {
  const texts: string[] = [];
  const failure = runTraced(block, source, bounds, (result) => texts.push(JSON.stringify(result)));
  return failure === undefined ? ok(texts) : err(failure);
}

/** The entries of traces that are lists, all in one list. */
export function traceEntries(
  block: TracedBlock,
  source: ReadSource,
  bounds: ReadBounds,
): Result<readonly string[], CallFailure> {
  const texts: string[] = [];
  const failure = runTraced(block, source, bounds, (result) => {
    invariant(Array.isArray(result), "only a trace that is a list has entries");
    for (const entry of result) texts.push(JSON.stringify(entry));
  });
  return failure === undefined ? ok(texts) : err(failure);
}

function runTraced(
  { header, transactions, firstTraced, options }: TracedBlock,
  source: ReadSource,
  bounds: ReadBounds,
  take: (result: Json) => void,
): CallFailure | undefined {
  const { rules, codes } = source;
  const room = new TraceRoom(bounds.resultBytesMax);
  const shouldStop = (): boolean => room.isExceeded || bounds.shouldStop();
  const state = source.stateAt(header.number - 1n);
  const engine = createEngine(rules, state, { codes, shouldStop });
  const block = blockContextOf(header, (number) => source.blockHash(number));
  const { number: blockNumber, coinbase } = header;
  const blockHash = source.blockHash(blockNumber);
  for (const [index, request] of transactions.entries()) {
    if (bounds.shouldStop()) return { kind: "stopped" };
    const { journal } = engine;
    const place = { blockHash, blockNumber, transactionHash: request.hash, index };
    const setting = { journal, request, coinbase, place, room };
    const trace = index < firstTraced ? undefined : createTrace(options, setting, engine.chainId);
    const executed = executeTransaction(engine, request, block, trace?.hooks);
    if (executed.status === "stopped") return room.excess() ?? { kind: "stopped" };
    const result = trace?.result(executed);
    const excess = room.excess();
    if (excess !== undefined) return excess;
    if (result !== undefined) take(result);
  }
  return undefined;
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
  if (called.value.status === "stopped") return err(room.excess() ?? { kind: "stopped" });
  const result = trace?.result(called.value) ?? {};
  const excess = room.excess();
  return excess === undefined ? ok(JSON.stringify(result)) : err(excess);
}

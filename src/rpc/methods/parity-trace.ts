/** What the methods of the trace module share. */
import type { FlatCallTracerOptions, ReplayTracerOptions } from "../../api/trace-options.ts";
import type { BlockRecord, CallerNamer, TraceReader } from "../../api/chain-reader.ts";
import { callFailureToError } from "../format/failure-error.ts";
import { invalidParameter, parseArray, type Place } from "../params/parameters.ts";
import { METHOD_NOT_SUPPORTED, RpcError } from "../rpc-error.ts";

/** As OpenEthereum writes them. */
export const PARITY_CALLS: FlatCallTracerOptions = {
  tracer: "flatCallTracer",
  hasParityErrors: true,
  hasPrecompiles: false,
  hasIntrinsicGas: false,
};

const TRACE_TYPES = ["trace", "stateDiff", "vmTrace"] as const;

/** The list that says what is wanted of a run. */
export function parseTraceTypes(value: unknown, place: Place): ReplayTracerOptions {
  const types = parseArray(value, place, TRACE_TYPES.length).map((one, index) => {
    const type = TRACE_TYPES.find((known) => known === one);
    if (type !== undefined) return type;
    throw invalidParameter(`${place}.${index}`, `one of ${TRACE_TYPES.join(", ")}`, one);
  });
  if (types.includes("vmTrace")) {
    const message = "vmTrace is not supported: use debug_traceTransaction for single steps";
    throw new RpcError(METHOD_NOT_SUPPORTED, message);
  }
  return {
    tracer: "replayTracer",
    hasTrace: types.includes("trace"),
    hasStateDiff: types.includes("stateDiff"),
  };
}

/** The calls of all transactions of a block, each as JSON. What block 0 has was never run. */
export async function traceBlockCalls(
  reader: TraceReader,
  block: BlockRecord,
  options: FlatCallTracerOptions,
  caller: CallerNamer | undefined,
): Promise<readonly string[]> {
  const { header, transactionHashes } = block;
  if (header.number === 0n || transactionHashes.length === 0) return [];
  const places = { first: 0, last: transactionHashes.length - 1 };
  const traced = await reader.traceEntries(block, places, options, caller);
  if (!traced.ok) throw callFailureToError(traced.error);
  return traced.value;
}

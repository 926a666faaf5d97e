import type { MuxTracerOptions, TraceOptions } from "../../api/trace-options.ts";
import { createCallTracer } from "./call-tracer.ts";
import { combineHooks } from "./combined-hooks.ts";
import type { ExecutionTrace, TraceSetting } from "./execution-trace.ts";
import { createFlatCallTracer } from "./flat-call-tracer.ts";
import { createFourByteTracer } from "./four-byte-tracer.ts";
import { createOtterscanCalls, createOtterscanOperations } from "./otterscan-tracers.ts";
import { createPrestateTracer } from "./prestate-tracer.ts";
import { createReplayTracer } from "./replay-tracer.ts";
import { createStructLogger } from "./struct-logger.ts";

export function createTrace(
  options: TraceOptions,
  setting: TraceSetting,
  chainId: bigint,
): ExecutionTrace {
  switch (options.tracer) {
    case "structLogger":
      return createStructLogger(options, setting);
    case "callTracer":
      return createCallTracer(options, setting);
    case "prestateTracer":
      return createPrestateTracer(options, setting, chainId);
    case "flatCallTracer":
      return createFlatCallTracer(options, setting);
    case "replayTracer":
      return createReplayTracer(options, setting, chainId);
    case "otterscanCalls":
      return createOtterscanCalls(setting);
    case "otterscanOperations":
      return createOtterscanOperations(setting);
    case "muxTracer":
      return createMuxTracer(options, setting, chainId);
    case "4byteTracer":
      return createFourByteTracer(setting);
    case "noopTracer":
      return { hooks: {}, result: () => ({}) };
  }
}

function createMuxTracer(
  { tracers }: MuxTracerOptions,
  setting: TraceSetting,
  chainId: bigint,
): ExecutionTrace {
  const traces = tracers.map((options) => createTrace(options, setting, chainId));
  return {
    hooks: combineHooks(traces.map(({ hooks }) => hooks)),
    result: (executed) =>
      Object.fromEntries(
        traces.map((trace, index) => [tracers[index]?.tracer ?? "", trace.result(executed)]),
      ),
  };
}

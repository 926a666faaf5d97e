import type { TraceOptions } from "../../api/trace-options.ts";
import { createCallTracer } from "./call-tracer.ts";
import type { ExecutionTrace, TraceSetting } from "./execution-trace.ts";
import { createFourByteTracer } from "./four-byte-tracer.ts";
import { createPrestateTracer } from "./prestate-tracer.ts";
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
    case "4byteTracer":
      return createFourByteTracer(setting);
    case "noopTracer":
      return { hooks: {}, result: () => ({}) };
  }
}

/** Output, calls and changes of state of one run, as trace_call and trace_replay* give them. */
import { bytesToHex } from "../../base/hex.ts";
import type { FlatCallTracerOptions, ReplayTracerOptions } from "../../api/trace-options.ts";
import { combineHooks } from "./combined-hooks.ts";
import type { ExecutionTrace, TraceSetting } from "./execution-trace.ts";
import { createFlatCallTracer } from "./flat-call-tracer.ts";
import { createStateDiff } from "./state-diff.ts";

const CALLS: FlatCallTracerOptions = {
  tracer: "flatCallTracer",
  hasParityErrors: true,
  hasPrecompiles: false,
  hasIntrinsicGas: false,
};

export function createReplayTracer(
  { hasTrace, hasStateDiff }: ReplayTracerOptions,
  setting: TraceSetting,
  chainId: bigint,
): ExecutionTrace {
  // The answer names the transaction once, not at each call.
  const calls = hasTrace
    ? createFlatCallTracer(CALLS, { ...setting, place: undefined })
    : undefined;
  const changes = hasStateDiff ? createStateDiff(setting, chainId) : undefined;
  const parts = [calls, changes].filter((part) => part !== undefined);
  return {
    hooks: combineHooks(parts.map(({ hooks }) => hooks)),
    result(executed) {
      const { output } = executed;
      setting.room.take(2 * output.length);
      return {
        output: bytesToHex(output),
        stateDiff: changes?.result(executed) ?? null,
        trace: calls?.result(executed) ?? [],
        vmTrace: null,
        ...(setting.place !== undefined && {
          transactionHash: bytesToHex(setting.place.transactionHash),
        }),
      };
    },
  };
}

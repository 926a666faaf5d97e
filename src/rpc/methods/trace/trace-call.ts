import type { ReplayTracerOptions } from "../../../api/trace-options.ts";
import type { TraceReader } from "../../../api/chain-reader.ts";
import { callFailureToError } from "../../format/failure-error.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseBlockTag, type BlockTag } from "../../params/block-tag.ts";
import { parseCall, type CallParameters } from "../../params/call-parameters.ts";
import { prepareCall, type CallReader } from "../../params/prepare-call.ts";
import { parseTraceTypes } from "../parity-trace.ts";

type Params = {
  readonly call: CallParameters;
  readonly options: ReplayTracerOptions;
  readonly block: BlockTag;
};

export const traceCallParity: Method<CallReader & TraceReader, Params> = {
  name: "trace_call",
  paramsMax: 3,
  parse: ([call, types, block], context) => ({
    call: parseCall(call, 0, context),
    options: parseTraceTypes(types, 1),
    block: parseBlockTag(block, 2, context.dialect),
  }),
  async handle(chain, { call, options, block: tag }, { limits, caller }) {
    const { request, block } = await prepareCall(chain, call, tag, limits.callGasMax);
    const traced = await chain.traceCall(request, block, options, caller);
    if (!traced.ok) throw callFailureToError(traced.error);
    return new JsonText(traced.value);
  },
};

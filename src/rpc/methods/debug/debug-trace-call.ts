import type { AccountOverride, BlockOverrides } from "../../../api/call-request.ts";
import type { TraceOptions } from "../../../api/trace-options.ts";
import { parseBlockTag, type BlockTag } from "../../params/block-tag.ts";
import { parseBlockOverrides, parseStateOverrides } from "../../params/call-overrides.ts";
import { parseCall, type CallParameters } from "../../params/call-parameters.ts";
import type { TraceReader } from "../../../api/chain-reader.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { isObject } from "../../params/parameters.ts";
import { prepareCall, type CallReader } from "../../params/prepare-call.ts";
import { callFailureToError } from "../../format/failure-error.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";

type Params = {
  readonly call: CallParameters;
  readonly block: BlockTag;
  readonly options: TraceOptions;
  readonly stateOverrides: readonly AccountOverride[];
  readonly blockOverrides: BlockOverrides | undefined;
};

export const debugTraceCall: Method<CallReader & TraceReader, Params> = {
  name: "debug_traceCall",
  paramsMax: 3,
  parse: ([call, block, config], context) => {
    const fields = isObject(config) ? config : {};
    return {
      call: parseCall(call, 0, context),
      block: parseBlockTag(block, 1, context.dialect),
      options: parseTraceConfig(config, 2, context),
      stateOverrides: parseStateOverrides(fields["stateOverrides"], "2.stateOverrides", context),
      blockOverrides: parseBlockOverrides(fields["blockOverrides"], "2.blockOverrides", context),
    };
  },
  async handle(chain, params, { limits, caller }) {
    const { call, options, stateOverrides, blockOverrides } = params;
    const { request, block } = await prepareCall(chain, call, params.block, limits.callGasMax);
    const changed = { ...request, stateOverrides, blockOverrides };
    const traced = await chain.traceCall(changed, block, options, caller);
    if (!traced.ok) throw callFailureToError(traced.error);
    return new JsonText(traced.value);
  },
};

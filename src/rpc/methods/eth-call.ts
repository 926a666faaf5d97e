import { bytesToHex } from "../../base/hex.ts";
import { parseBlockTag, type BlockTag } from "../block-tag.ts";
import { parseCall, type CallParameters } from "../call-parameters.ts";
import type { Caller } from "../chain-reader.ts";
import type { Method } from "../method.ts";
import { prepareCall, type CallReader } from "../prepare-call.ts";
import { callFailureToError } from "../refusal.ts";

type Params = { readonly call: CallParameters; readonly block: BlockTag };

export const ethCall: Method<CallReader & Caller, Params> = {
  name: "eth_call",
  paramsMax: 2,
  parse: ([call, block], context) => ({
    call: parseCall(call, 0, context),
    block: parseBlockTag(block, 1, context.dialect),
  }),
  async handle(chain, params, { limits }) {
    const { call } = params;
    const { request, block } = await prepareCall(chain, call, params.block, limits.callGasMax);
    const outcome = await chain.call(request, block);
    if (!outcome.ok) throw callFailureToError(outcome.error);
    return bytesToHex(outcome.value);
  },
};

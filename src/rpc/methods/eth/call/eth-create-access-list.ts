import type { AccountOverride } from "../../../../api/call-request.ts";
import { parseBlockTag, type BlockTag } from "../../../params/block-tag.ts";
import { parseStateOverrides } from "../../../params/call-overrides.ts";
import { parseCall, type CallParameters } from "../../../params/call-parameters.ts";
import type { AccessListCreator } from "../../../../api/chain-reader.ts";
import { formatAccessList } from "../../../format/format-transaction.ts";
import type { Method } from "../../../method.ts";
import { prepareCall, type CallReader } from "../../../params/prepare-call.ts";
import { quantity } from "../../../format/quantity.ts";
import { callFailureToError } from "../../../format/failure-error.ts";

type Params = {
  readonly call: CallParameters;
  readonly block: BlockTag;
  readonly stateOverrides: readonly AccountOverride[];
};

export const ethCreateAccessList: Method<CallReader & AccessListCreator, Params> = {
  name: "eth_createAccessList",
  paramsMax: 3,
  parse: ([call, block, state], context) => ({
    call: parseCall(call, 0, context),
    block: parseBlockTag(block, 1, context.dialect),
    stateOverrides: parseStateOverrides(state, 2, context),
  }),
  async handle(chain, params, { limits, caller }) {
    const { call, stateOverrides } = params;
    const { request, block } = await prepareCall(chain, call, params.block, limits.callGasMax);
    const created = await chain.createAccessList({ ...request, stateOverrides }, block, caller);
    if (!created.ok) throw callFailureToError(created.error);
    const { accessList, gasUsed, failure } = created.value;
    return {
      accessList: formatAccessList(accessList),
      gasUsed: quantity(gasUsed),
      ...(failure !== undefined && { error: callFailureToError(failure).message }),
    };
  },
};

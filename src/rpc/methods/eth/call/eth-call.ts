import { bytesToHex } from "../../../../base/hex.ts";
import type { AccountOverride, BlockOverrides } from "../../../../api/call-request.ts";
import { whenThere } from "../../../../api/awaitable.ts";
import { parseBlockTag, type BlockTag } from "../../../params/block-tag.ts";
import { parseBlockOverrides, parseStateOverrides } from "../../../params/call-overrides.ts";
import { parseCall, type CallParameters } from "../../../params/call-parameters.ts";
import type { CallRunner } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { prepareCall, type CallReader } from "../../../params/prepare-call.ts";
import { callFailureToError } from "../../../format/failure-error.ts";

type Params = {
  readonly call: CallParameters;
  readonly block: BlockTag;
  readonly stateOverrides: readonly AccountOverride[];
  readonly blockOverrides: BlockOverrides | undefined;
};

export const ethCall: Method<CallReader & CallRunner, Params> = {
  name: "eth_call",
  paramsMax: 4,
  parse: ([call, block, state, header], context) => ({
    call: parseCall(call, 0, context),
    block: parseBlockTag(block, 1, context.dialect),
    stateOverrides: parseStateOverrides(state, 2, context),
    blockOverrides: parseBlockOverrides(header, 3, context),
  }),
  handle(chain, params, { limits, caller }) {
    const { call, stateOverrides, blockOverrides } = params;
    return whenThere(prepareCall(chain, call, params.block, limits.callGasMax), (prepared) => {
      const request = { ...prepared.request, stateOverrides, blockOverrides };
      return whenThere(chain.call(request, prepared.block, caller), (outcome) => {
        if (!outcome.ok) throw callFailureToError(outcome.error);
        return bytesToHex(outcome.value);
      });
    });
  },
};

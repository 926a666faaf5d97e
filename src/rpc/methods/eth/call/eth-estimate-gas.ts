import type { AccountOverride, BlockOverrides } from "../../../../api/call-request.ts";
import { parseBlockTag, type BlockTag } from "../../../params/block-tag.ts";
import { parseBlockOverrides, parseStateOverrides } from "../../../params/call-overrides.ts";
import { parseCall, type CallParameters } from "../../../params/call-parameters.ts";
import type { GasEstimator } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { prepareCall, type CallReader } from "../../../params/prepare-call.ts";
import { quantity } from "../../../format/quantity.ts";
import { callFailureToError } from "../../../format/failure-error.ts";
import { RpcError, SERVER_ERROR } from "../../../rpc-error.ts";

type Params = {
  readonly call: CallParameters;
  readonly block: BlockTag;
  readonly stateOverrides: readonly AccountOverride[];
  readonly blockOverrides: BlockOverrides | undefined;
};

/** A transaction cannot have more gas than the chain allows for one: the search ends there, too. */
export type EstimateReader = CallReader &
  GasEstimator & { readonly transactionGasMax: bigint | undefined };

export const ethEstimateGas: Method<EstimateReader, Params> = {
  name: "eth_estimateGas",
  paramsMax: 4,
  parse: ([call, block, state, header], context) => ({
    call: parseCall(call, 0, context),
    block: parseBlockTag(block, 1, context.dialect),
    stateOverrides: parseStateOverrides(state, 2, context),
    blockOverrides: parseBlockOverrides(header, 3, context),
  }),
  async handle(chain, params, { limits, caller }) {
    const { stateOverrides, blockOverrides } = params;
    const { transactionGasMax = limits.callGasMax } = chain;
    const gasMax = transactionGasMax < limits.callGasMax ? transactionGasMax : limits.callGasMax;
    const { request, block } = await prepareCall(chain, params.call, params.block, gasMax);
    const estimated = await chain.estimateGas(
      { ...request, stateOverrides, blockOverrides },
      block,
      caller,
    );
    if (estimated.ok) return quantity(estimated.value);
    const { error } = estimated;
    if (error.kind === "failed" && error.reason === "OUT_OF_GAS") {
      throw new RpcError(SERVER_ERROR, `gas required exceeds allowance (${error.gasLimit})`);
    }
    throw callFailureToError(error);
  },
};

import { prunedBlock, requireBlock, type BlockTag } from "./block-tag.ts";
import { callToRequest, type CallParameters } from "./call-parameters.ts";
import type { CallRequest } from "../chain/call-request.ts";
import type { BlockRecord, NetworkReader, StateAtReader } from "./chain-reader.ts";

export type CallReader = StateAtReader & Pick<NetworkReader, "chainId">;

/** A call with what its caller left out: the nonce of the state, the gas that is allowed. */
export async function prepareCall(
  reader: CallReader,
  call: CallParameters,
  tag: BlockTag,
  gasMax: bigint,
): Promise<{ readonly request: CallRequest; readonly block: BlockRecord }> {
  const block = await requireBlock(reader, tag);
  const state = await reader.stateAt(block);
  if (state === undefined) throw prunedBlock(block);
  const nonce = call.nonce ?? (await state.nonce(call.from));
  return { request: callToRequest(call, { chainId: reader.chainId, nonce, gasMax }), block };
}

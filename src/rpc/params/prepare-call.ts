import { whenThere, type Awaitable } from "../../api/awaitable.ts";
import { prunedBlock, requireBlock, type BlockTag } from "./block-tag.ts";
import { callToRequest, type CallParameters } from "./call-parameters.ts";
import type { CallRequest } from "../../api/call-request.ts";
import type { BlockRecord, NetworkReader, StateAtReader } from "../../api/chain-reader.ts";

export type CallReader = StateAtReader & Pick<NetworkReader, "chainId">;

/** A call with what its caller left out: the nonce of the state, the gas that is allowed. */
export function prepareCall(
  reader: CallReader,
  call: CallParameters,
  tag: BlockTag,
  gasMax: bigint,
): Awaitable<{ readonly request: CallRequest; readonly block: BlockRecord }> {
  return whenThere(requireBlock(reader, tag), (block) =>
    whenThere(reader.stateAt(block), (state) => {
      if (state === undefined) throw prunedBlock(block);
      return whenThere(call.nonce ?? state.nonce(call.from), (nonce) => {
        const request = callToRequest(call, { chainId: reader.chainId, nonce, gasMax });
        return { request, block };
      });
    }),
  );
}

import { parseBlockTag, requireState, type BlockTag } from "../../../params/block-tag.ts";
import type { PendingNonceReader, StateAtReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseAddressParameter } from "../../../params/parameters.ts";
import { quantity } from "../../../format/quantity.ts";

type Params = { readonly address: bigint; readonly block: BlockTag };

/** The pending count includes what was accepted and follows without a gap (SPEC E12). */
export const ethGetTransactionCount: Method<StateAtReader & PendingNonceReader, Params> = {
  name: "eth_getTransactionCount",
  paramsMax: 2,
  parse: ([address, block], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    block: parseBlockTag(block, 1, dialect),
  }),
  async handle(chain, { address, block }) {
    if (block.kind === "name" && block.name === "pending") {
      return quantity(await chain.pendingNonce(address));
    }
    const state = await requireState(chain, block);
    return quantity(await state.nonce(address));
  },
};

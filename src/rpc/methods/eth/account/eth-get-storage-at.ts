import { parseBlockTag, requireState, type BlockTag } from "../../../params/block-tag.ts";
import type { StateAtReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseAddressParameter, parseSlot } from "../../../params/parameters.ts";
import { word } from "../../../format/quantity.ts";

type Params = { readonly address: bigint; readonly slot: bigint; readonly block: BlockTag };

export const ethGetStorageAt: Method<StateAtReader, Params> = {
  name: "eth_getStorageAt",
  paramsMax: 3,
  parse: ([address, slot, block], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    slot: parseSlot(slot, 1),
    block: parseBlockTag(block, 2, dialect),
  }),
  async handle(chain, { address, slot, block }) {
    const state = await requireState(chain, block);
    return word(await state.storage(address, slot));
  },
};

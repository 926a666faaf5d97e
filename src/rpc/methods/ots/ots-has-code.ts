import type { StateAtReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseBlockTag, requireState, type BlockTag } from "../../params/block-tag.ts";
import { parseAddressParameter } from "../../params/parameters.ts";

type Params = { readonly address: bigint; readonly block: BlockTag };

export const otsHasCode: Method<StateAtReader, Params> = {
  name: "ots_hasCode",
  paramsMax: 2,
  parse: ([address, block], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    block: parseBlockTag(block, 1, dialect),
  }),
  async handle(chain, { address, block }) {
    const state = await requireState(chain, block);
    return (await state.code(address)).length > 0;
  },
};

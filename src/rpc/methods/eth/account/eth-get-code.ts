import { bytesToHex } from "../../../../base/hex.ts";
import { parseBlockTag, requireState, type BlockTag } from "../../../params/block-tag.ts";
import type { StateAtReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseAddressParameter } from "../../../params/parameters.ts";

type Params = { readonly address: bigint; readonly block: BlockTag };

export const ethGetCode: Method<StateAtReader, Params> = {
  name: "eth_getCode",
  paramsMax: 2,
  parse: ([address, block], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    block: parseBlockTag(block, 1, dialect),
  }),
  async handle(chain, { address, block }) {
    const state = await requireState(chain, block);
    return bytesToHex(await state.code(address));
  },
};

import { whenThere } from "../../../../api/awaitable.ts";
import { parseBlockTag, requireState, type BlockTag } from "../../../params/block-tag.ts";
import type { StateAtReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { parseAddressParameter } from "../../../params/parameters.ts";
import { quantity } from "../../../format/quantity.ts";

type Params = { readonly address: bigint; readonly block: BlockTag };

export const ethGetBalance: Method<StateAtReader, Params> = {
  name: "eth_getBalance",
  paramsMax: 2,
  parse: ([address, block], { dialect }) => ({
    address: parseAddressParameter(address, 0),
    block: parseBlockTag(block, 1, dialect),
  }),
  handle: (chain, { address, block }) =>
    whenThere(requireState(chain, block), (state) => whenThere(state.balance(address), quantity)),
};

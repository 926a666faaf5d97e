import { addressToHex } from "../../../../chain/address.ts";
import { parseBlockTag, requireState, type BlockTag } from "../../../params/block-tag.ts";
import type { StateAtReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import {
  parseAddressParameter,
  parseArray,
  parseObject,
  parseSlot,
} from "../../../params/parameters.ts";
import { word } from "../../../format/quantity.ts";
import { INVALID_PARAMS, RpcError } from "../../../rpc-error.ts";

type Params = {
  readonly requests: readonly { readonly address: bigint; readonly slots: readonly bigint[] }[];
  readonly block: BlockTag;
};

const SLOTS_MAX = 1_024;

/** Many slots of many accounts at once. */
export const ethGetStorageValues: Method<StateAtReader, Params> = {
  name: "eth_getStorageValues",
  paramsMax: 2,
  parse: ([requests, block], { dialect }) => ({
    requests: parseRequests(requests),
    block: parseBlockTag(block, 1, dialect),
  }),
  async handle(chain, { requests, block }) {
    const state = await requireState(chain, block);
    const values: Record<string, string[]> = {};
    for (const { address, slots } of requests) {
      const found = [];
      for (const slot of slots) found.push(word(await state.storage(address, slot)));
      values[addressToHex(address)] = found;
    }
    return values;
  },
};

function parseRequests(value: unknown): Params["requests"] {
  let count = 0;
  const requests = Object.entries(parseObject(value, 0)).map(([address, slots]) => {
    const keys = parseArray(slots, `0.${address}`, SLOTS_MAX);
    count += keys.length;
    return {
      address: parseAddressParameter(address, 0),
      slots: keys.map((key, index) => parseSlot(key, `0.${address}.${index}`)),
    };
  });
  if (count === 0 || count > SLOTS_MAX) {
    const message = `invalid parameter 0: from 1 to ${SLOTS_MAX} slots, got ${count}`;
    throw new RpcError(INVALID_PARAMS, message);
  }
  return requests;
}

import { bytesToHex } from "../../../../base/hex.ts";
import type { HeadReader, RetentionReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

/** How far back this node can answer. */
export const ethCapabilities: Method<HeadReader & RetentionReader, undefined> = {
  name: "eth_capabilities",
  paramsMax: 0,
  parse: () => undefined,
  async handle(chain) {
    const { hash, header } = await chain.latestBlock();
    const { state, blocks } = await chain.oldestKept();
    const keptState = { disabled: false, oldestBlock: quantity(state) };
    const keptBlocks = { disabled: false, oldestBlock: quantity(blocks) };
    return {
      head: { number: quantity(header.number), hash: bytesToHex(hash) },
      state: keptState,
      tx: keptBlocks,
      logs: keptBlocks,
      receipts: keptBlocks,
      blocks: keptBlocks,
      stateproofs: keptState,
    };
  },
};

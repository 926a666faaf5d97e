import type { SyncReader } from "../../../../api/chain-reader.ts";
import type { Method } from "../../../method.ts";
import { quantity } from "../../../format/quantity.ts";

export const ethSyncing: Method<SyncReader, undefined> = {
  name: "eth_syncing",
  paramsMax: 0,
  parse: () => undefined,
  async handle(node) {
    const progress = await node.syncProgress();
    if (progress === undefined) return false;
    return {
      startingBlock: quantity(progress.startingBlock),
      currentBlock: quantity(progress.currentBlock),
      highestBlock: quantity(progress.highestBlock),
    };
  },
};

import type { Method } from "../../method.ts";
import type { NodeStatusReader } from "../../../api/network-status.ts";
import { quantity } from "../../format/quantity.ts";

export const quorateStatus: Method<NodeStatusReader, undefined> = {
  name: "quorate_status",
  paramsMax: 0,
  parse: () => undefined,
  async handle(node) {
    const { blockNumber, problem, ...status } = await node.networkStatus();
    return { ...status, blockNumber: quantity(blockNumber), problem: problem ?? null };
  },
};

import type { Method } from "../../method.ts";
import type { ReplicasReader } from "../../../api/network-status.ts";

export const quorateReplicas: Method<ReplicasReader, undefined> = {
  name: "quorate_replicas",
  paramsMax: 0,
  parse: () => undefined,
  handle: (node) => node.replicaStatuses(),
};

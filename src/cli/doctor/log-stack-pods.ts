/** What the log stack of deploy/logging asks for (a test compares with its values). */
import type { PodRequest } from "./pod-placement.ts";

const MIB = 2 ** 20;
/** The charts' own defaults where deploy/logging says nothing. */
const STORE_COUNT = 3;
const STORE = { cpu: 0.1, memory: 1_024_000_000 };
const VIEWER = { cpu: 1, memory: 2_048 * MIB };
const PIPELINE = { cpu: 0.1, memory: 1_536 * MIB };

export const LOG_STACK_PODS: readonly PodRequest[] = [
  ...Array.from({ length: STORE_COUNT }, (_, index) => ({
    name: `elasticsearch-master-${index}`,
    wants: STORE,
  })),
  { name: "kibana", wants: VIEWER },
  { name: "logstash-0", wants: PIPELINE },
];

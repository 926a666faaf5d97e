/** Names of the nodes of a packaged network, and the principals they speak under (SPEC N1). */
import { clientPrincipalMin } from "../base/client-principal.ts";

export const REPLICA_COUNT = 4;
export const CLIENT_NAME = "client-0";
export const CLIENT_PRINCIPAL = clientPrincipalMin(REPLICA_COUNT);
export const REPLICA_NAMES: readonly string[] = Array.from(
  { length: REPLICA_COUNT },
  (_, index) => `replica-${index}`,
);
export const LOG_STACK_NAME = "log-stack";
export const NODE_NAMES: readonly string[] = [...REPLICA_NAMES, CLIENT_NAME];

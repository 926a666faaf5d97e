/**
 * A node that starts knows the chain as of its last write. Until it has caught up it answers
 * nothing that depends on the chain: a caller who saw a block before must not see the state before
 * it.
 */
import type { BoundMethod, MethodTable } from "./method.ts";
import { RpcError, SERVER_ERROR } from "./rpc-error.ts";

const ALWAYS_ANSWERED: ReadonlySet<string> = new Set([
  "eth_chainId",
  "eth_syncing",
  "net_listening",
  "net_peerCount",
  "net_version",
  "quorate_replicas",
  "quorate_status",
  "rpc_modules",
  "web3_clientVersion",
  "web3_sha3",
]);

/** `notReadyReason` is undefined from the moment on at which the node has caught up. */
export function gateMethods(
  methods: MethodTable,
  notReadyReason: () => string | undefined,
): MethodTable {
  const gate = (method: BoundMethod): BoundMethod => ({
    ...method,
    run(params, context) {
      const reason = notReadyReason();
      if (reason !== undefined) {
        throw new RpcError(SERVER_ERROR, `the node is not ready, try again later: ${reason}`);
      }
      return method.run(params, context);
    },
  });
  return new Map(
    Array.from(methods, ([name, method]) => [
      name,
      ALWAYS_ANSWERED.has(name) ? method : gate(method),
    ]),
  );
}

/**
 * A node that starts knows the chain as of its last write. Until it has caught up it answers
 * nothing that depends on the chain: a caller who saw a block before must not see the state before
 * it. That takes a moment, in which requests wait instead of failing.
 */
import type { BoundMethod, MethodContext, MethodTable } from "../method.ts";
import { RpcError, SERVER_ERROR } from "../rpc-error.ts";
import type { RpcLimits } from "../rpc-options.ts";

export const ALWAYS_ANSWERED: ReadonlySet<string> = new Set([
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

export type Readiness = {
  /** Resolves when the node has caught up for the first time. */
  whenReady(): Promise<void>;
  /** Why it has not yet. */
  notReadyReason(): string;
};

export function gateMethods(methods: MethodTable, readiness: Readiness): MethodTable {
  const waits = new ReadinessWaits();
  let isReady = false;
  void readiness.whenReady().then(() => {
    isReady = true;
    waits.end();
  });
  const gate = (method: BoundMethod): BoundMethod => ({
    ...method,
    run(params, context) {
      if (isReady) return method.run(params, context);
      return waits.wait(context).then(() => {
        if (isReady) return method.run(params, context);
        const message = `the node is not ready, try again later: ${readiness.notReadyReason()}`;
        throw new RpcError(SERVER_ERROR, message, { reason: "NODE_NOT_READY" });
      });
    },
  });
  return new Map(
    Array.from(methods, ([name, method]) => [
      name,
      ALWAYS_ANSWERED.has(name) ? method : gate(method),
    ]),
  );
}

class ReadinessWaits {
  /** By the body that they came in: a batch waits once, not once for each lane and item. */
  readonly #started = new WeakMap<MethodContext, Promise<void>>();
  readonly #waiting = new Set<() => void>();

  /** Resolves when the node is ready or the time is over. */
  wait(context: MethodContext): Promise<void> {
    const started = this.#started.get(context) ?? this.#start(context.limits);
    this.#started.set(context, started);
    return started;
  }

  end(): void {
    for (const end of this.#waiting) end();
  }

  /** WebSockets together may send far more requests than HTTP; this bounds how many wait. */
  #start({ readyWaitMs, concurrentRequestsMax }: RpcLimits): Promise<void> {
    if (this.#waiting.size >= concurrentRequestsMax) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, readyWaitMs);
      this.#waiting.add(end);
    });
  }
}

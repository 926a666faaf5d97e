import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Dispatcher } from "../../../../src/rpc/server/dispatcher.ts";
import type { BoundMethod, MethodTable } from "../../../../src/rpc/method.ts";
import { gateMethods } from "../../../../src/rpc/server/readiness-gate.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../../../../src/rpc/rpc-options.ts";

/** No test waits for this: the node is ready before. */
const LONG_MS = 60_000;
const NOT_READY = {
  code: -32000,
  message: "the node is not ready, try again later: 2 of 4 replicas are up",
  data: { reason: "NODE_NOT_READY" },
};

describe("ethrpc before the node has caught up", () => {
  const open = (): { methods: MethodTable; becomeReady: () => Promise<void> } => {
    const ready = Promise.withResolvers<undefined>();
    const method = (name: string): [string, BoundMethod] => [name, { name, run: () => name }];
    const methods = gateMethods(new Map([method("eth_getBalance"), method("eth_chainId")]), {
      whenReady: () => ready.promise,
      notReadyReason: () => "2 of 4 replicas are up",
    });
    const becomeReady = async (): Promise<void> => {
      ready.resolve(undefined);
      await turn();
    };
    return { methods, becomeReady };
  };
  /** As one body of its own. */
  const run = (methods: MethodTable, name: string, limits: Partial<RpcLimits> = {}): unknown =>
    methods.get(name)?.run([], {
      dialect: "standard",
      limits: { ...DEFAULT_RPC_LIMITS, readyWaitMs: LONG_MS, ...limits },
    });

  it("answers at once what does not depend on the chain", () => {
    const { methods } = open();
    assert.equal(run(methods, "eth_chainId"), "eth_chainId");
  });

  it("lets the rest wait, and answers it as soon as the node is ready", async () => {
    const { methods, becomeReady } = open();
    let answer: unknown;
    const answered = Promise.resolve(run(methods, "eth_getBalance")).then((given) => {
      answer = given;
    });
    await turn();
    assert.equal(answer, undefined);
    await becomeReady();
    await answered;
    assert.equal(answer, "eth_getBalance");
  });

  it("answers without a promise once the node is ready", async () => {
    const { methods, becomeReady } = open();
    await becomeReady();
    assert.equal(run(methods, "eth_getBalance"), "eth_getBalance");
  });

  it("says why when the time is over", async () => {
    const { methods } = open();
    const late = Promise.resolve(run(methods, "eth_getBalance", { readyWaitMs: 20 }));
    await assert.rejects(late, NOT_READY);
  });

  it("lets no more wait than may be answered at the same time", async () => {
    const { methods, becomeReady } = open();
    const limits = { concurrentRequestsMax: 1 };
    const first = run(methods, "eth_getBalance", limits);
    const second = Promise.resolve(run(methods, "eth_getBalance", limits));
    await assert.rejects(second, NOT_READY);
    await becomeReady();
    assert.equal(await first, "eth_getBalance");
  });

  it("lets a batch wait once, not once for each of its requests", async () => {
    const { methods } = open();
    const waitMs = 200;
    const items = 50;
    const limits = { ...DEFAULT_RPC_LIMITS, readyWaitMs: waitMs, concurrentBatchItemsMax: 1 };
    const request = { jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [] };
    const body = JSON.stringify(new Array(items).fill(request));
    const startedMs = performance.now();
    const { text = "" } = await new Dispatcher(limits, { methods }).answer(
      new TextEncoder().encode(body),
      "standard",
    );
    const ms = performance.now() - startedMs;
    const answers = JSON.parse(text) as readonly { readonly error: unknown }[];
    assert.equal(answers.length, items);
    for (const { error } of answers) assert.deepEqual(error, NOT_READY);
    // One after the other they would have waited twice as long as this.
    assert.ok(ms < (items * waitMs) / 2, `${ms} ms`);
  });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

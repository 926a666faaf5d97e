import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BoundMethod, MethodContext } from "../../../src/rpc/method.ts";
import { gateMethods } from "../../../src/rpc/readiness-gate.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";

const CONTEXT: MethodContext = { dialect: "standard", limits: DEFAULT_RPC_LIMITS };

describe("ethrpc before the node has caught up", () => {
  let reason: string | undefined = "2 of 4 replicas are up";
  const method = (name: string): [string, BoundMethod] => [name, { name, run: () => "answer" }];
  const methods = gateMethods(
    new Map([method("eth_getBalance"), method("eth_chainId")]),
    () => reason,
  );
  const run = (name: string): unknown => methods.get(name)?.run([], CONTEXT);

  it("answers what does not depend on the chain and refuses the rest with the reason", () => {
    assert.equal(run("eth_chainId"), "answer");
    assert.throws(() => run("eth_getBalance"), /not ready.*2 of 4 replicas are up/);
  });

  it("answers everything afterwards", () => {
    reason = undefined;
    assert.equal(run("eth_getBalance"), "answer");
  });
});

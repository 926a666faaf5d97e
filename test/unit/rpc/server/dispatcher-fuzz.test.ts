/** Whatever is sent, the answer is JSON-RPC and no handler breaks. Runs without HTTP, for speed. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import fc from "fast-check";

import { Dispatcher } from "../../../../src/rpc/server/dispatcher.ts";
import { createMethodTable } from "../../../../src/rpc/methods/method-table.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";
import type { MemoryChain } from "../../../support/memory-chain.ts";
import { ALICE, CONTRACTS, hexOf, RpcNode, type RpcResponse, word } from "../rpc-node.ts";

const KNOWN_CODES = new Set([
  ...[3, 4, 4444, -32000, -32002, -32003, -32004, -32005, -32600, -32601, -32602, -32700],
]);

/** Values that are right somewhere, so that a draw gets past the first check often. */
const plausible = fc.constantFrom<unknown>(
  ...["latest", "earliest", "pending", "0x0", "0x1", "0x00", "0x", "0xffffffffffffffff", "0x1g"],
  ...[hexOf(ALICE), hexOf(CONTRACTS.spinner), word(0n), word(1n), `0x${"ff".repeat(40)}`],
  ...[true, false, null, 0, 1, -1, 1e308, 0.5, "", [], {}, [[]], [null], "constructor"],
);
const fieldName = fc.constantFrom(
  ...["to", "from", "data", "input", "gas", "value", "gasPrice", "maxFeePerGas", "nonce", "type"],
  ...["accessList", "authorizationList", "address", "topics", "fromBlock", "toBlock", "blockHash"],
  ...["blockNumber", "requireCanonical", "storageKeys", "__proto__", "toString"],
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: plausible },
  { weight: 3, arbitrary: fc.dictionary(fieldName, plausible, { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.array(plausible, { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

describe("the dispatcher", () => {
  let chain: MemoryChain;

  before(async () => {
    const node = await RpcNode.open();
    await node.fill();
    await node.close();
    ({ chain } = node);
  });

  it("answers any parameters of any method with a result or a known code", async () => {
    const methods = createMethodTable(chain, chain);
    const broken: string[] = [];
    const limits = { ...DEFAULT_RPC_LIMITS, callGasMax: 100_000n };
    const onInternalError = (method: string, error: unknown): void => {
      broken.push(`${method}: ${String(error)}`);
    };
    const dispatcher = new Dispatcher(limits, { methods, onInternalError });
    const request = fc.record({
      method: fc.constantFrom(...methods.keys()),
      params: fc.array(value, { maxLength: 4 }),
      dialect: fc.constantFrom("legacy" as const, "standard" as const),
    });
    const property = fc.asyncProperty(request, async ({ method, params, dialect }) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { text } = await dispatcher.answer(Buffer.from(body), dialect);
      const { error, result } = JSON.parse(text ?? "") as RpcResponse;
      assert.deepEqual(broken, [], body);
      assert.equal(error === undefined, result !== undefined, body);
      if (error !== undefined) assert.ok(KNOWN_CODES.has(error.code), `${body}: ${error.code}`);
    });
    await fc.assert(property, { numRuns: 3_000 });
  });

  it("answers any bytes", async () => {
    const dispatcher = new Dispatcher(DEFAULT_RPC_LIMITS, {
      methods: createMethodTable(chain, chain),
    });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.json().map((text) => Buffer.from(text)),
    );
    const property = fc.asyncProperty(bytes, async (body) => {
      const { status, text } = await dispatcher.answer(body, "standard");
      assert.ok([200, 204, 400].includes(status), `${status}`);
      if (text !== undefined) JSON.parse(text);
    });
    await fc.assert(property, { numRuns: 500 });
  });
});

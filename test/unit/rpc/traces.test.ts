/** debug_trace* on a chain in memory. What is expected is counted by hand. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex, type Hex } from "../../../src/base/hex.ts";
import { createdAddress } from "../../../src/chain/address.ts";
import { assemble } from "../evm/bytecode.ts";
import { ALICE, BOB, CONTRACTS, hexOf, LOG_TOPIC, REVERT_DATA, RpcNode, word } from "./rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;

const COINBASE = "0x0000000000000000000000000071756f72617465";

/** Sets slot 1 to 5, sends 3 to Bob, calls the logger and, in vain, reverter and thrower. */
const CALLER = [
  "PUSH 5 PUSH 1 SSTORE",
  `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 3 PUSH ${BOB} PUSH 0 CALL POP`,
  `PUSH 0x0102030400000000000000000000000000000000000000000000000000000007 PUSH 0 MSTORE`,
  `PUSH 0 PUSH 0 PUSH 32 PUSH 0 PUSH 0 PUSH ${CONTRACTS.logger} PUSH 20000 CALL POP`,
  `PUSH 0 PUSH 0 PUSH 4 PUSH 0 PUSH 0 PUSH ${CONTRACTS.reverter} PUSH 20000 CALL POP`,
  `PUSH 0 PUSH 0 PUSH 4 PUSH 0 PUSH ${CONTRACTS.thrower} PUSH 2000 DELEGATECALL POP`,
  "PUSH 1 SLOAD POP STOP",
].join(" ");

describe("traces", () => {
  let node: RpcNode;
  let hashes: { readonly created: Hex; readonly called: Hex };
  let caller: Hex;

  const ask = async (method: string, ...params: readonly unknown[]): Promise<Json> =>
    (await node.standard(method, ...params)) as Json;

  before(async () => {
    node = await RpcNode.open();
    const code = assemble(CALLER);
    const size = code.length;
    const init = assemble(`PUSH ${size} DUP1 PUSH 11 PUSH 0 CODECOPY PUSH 0 RETURN`);
    const head = new Uint8Array(11);
    head.set(init);
    head.fill(0x5b, init.length);
    const data = Buffer.concat([head, code]);
    const created = await node.send(0, { to: undefined, data });
    caller = hexOf(createdAddress(ALICE, 0n));
    const called = await node.send(0, { nonce: 1n, to: BigInt(caller), value: 10n });
    node.chain.seal();
    hashes = { created, called };
  });
  after(() => node.close());

  it("show every step, its gas, stack and storage", async () => {
    const trace = await ask("debug_traceTransaction", hashes.called);
    const receipt = await ask("eth_getTransactionReceipt", hashes.called);
    assert.equal(BigInt(trace["gas"] as number), BigInt(receipt["gasUsed"] as string));
    assert.equal(trace["failed"], false);
    assert.equal(trace["returnValue"], "0x");
    const steps = trace["structLogs"] as readonly Json[];
    const [first, second, third] = steps;
    const gas = 200_000 - 21_000;
    assert.deepEqual(first, { pc: 0, op: "PUSH1", gas, gasCost: 3, depth: 1, stack: [] });
    assert.deepEqual(second!["stack"], ["0x5"]);
    assert.equal(third!["op"], "SSTORE");
    assert.equal(third!["gasCost"], 22_100);
    assert.deepEqual(third!["storage"], { [word(1n)]: word(5n) });
    const load = steps.find(({ op }) => op === "SLOAD")!;
    assert.deepEqual(load["storage"], { [word(1n)]: word(5n) });
    assert.equal(load["gasCost"], 100);
    const inner = steps.filter(({ depth }) => depth === 2);
    assert.ok(inner.some(({ op }) => op === "LOG2"));
    assert.equal(steps.at(-1)!["op"], "STOP");
    let expected = gas;
    for (const step of steps.filter(({ depth }) => depth === 1)) {
      assert.ok((step["gas"] as number) <= expected, "gas never grows");
      expected = step["gas"] as number;
    }
  });

  it("leave out and add what their options say", async () => {
    const options = { disableStack: true, enableMemory: true, disableStorage: true, limit: 40 };
    const trace = await ask("debug_traceTransaction", hashes.called, options);
    const steps = trace["structLogs"] as readonly Json[];
    assert.equal(steps.length, 40);
    assert.ok(steps.every((step) => !("stack" in step) && !("storage" in step)));
    assert.ok(
      steps.some((step) => (step["memory"] as readonly string[])[0]?.startsWith("0x01020304")),
    );
  });

  it("show the calls, one inside the other, with logs and errors", async () => {
    const options = { tracer: "callTracer", tracerConfig: { withLog: true } };
    const trace = await ask("debug_traceTransaction", hashes.called, options);
    const receipt = await ask("eth_getTransactionReceipt", hashes.called);
    assert.equal(trace["type"], "CALL");
    assert.equal(trace["from"], hexOf(ALICE));
    assert.equal(trace["to"], caller);
    assert.equal(trace["value"], "0xa");
    assert.equal(trace["gas"], "0x30d40");
    assert.equal(trace["gasUsed"], receipt["gasUsed"]);
    const [paid, logged, reverted, thrown] = trace["calls"] as readonly Json[];
    assert.deepEqual(paid, {
      ...{ type: "CALL", from: caller, to: hexOf(BOB), value: "0x3" },
      ...{ gas: "0x8fc", gasUsed: "0x0", input: "0x" },
    });
    const data = `0x01020304${"00".repeat(27)}07`;
    assert.equal(logged!["input"], data);
    assert.deepEqual(logged!["logs"], [
      {
        address: hexOf(CONTRACTS.logger),
        topics: [word(LOG_TOPIC), data],
        data: word(0n),
        position: "0x0",
      },
    ]);
    assert.equal(reverted!["error"], "execution reverted");
    assert.equal(reverted!["revertReason"], "user error");
    assert.equal(reverted!["output"], REVERT_DATA);
    assert.equal(thrown!["type"], "DELEGATECALL");
    assert.equal(thrown!["from"], caller, "who delegates, not who sent");
    assert.equal(thrown!["to"], hexOf(CONTRACTS.thrower));
    assert.equal(thrown!["error"], "invalid opcode: INVALID");
    const top = await ask("debug_traceTransaction", hashes.called, {
      tracer: "callTracer",
      tracerConfig: { onlyTopCall: true },
    });
    assert.equal("calls" in top, false);
  });

  it("show a creation and its address", async () => {
    const trace = await ask("debug_traceTransaction", hashes.created, { tracer: "callTracer" });
    assert.equal(trace["type"], "CREATE");
    assert.equal(trace["to"], caller);
    assert.equal(trace["output"], bytesToHex(assemble(CALLER)));
  });

  it("show what was there before, and what became different", async () => {
    const before = await ask("debug_traceTransaction", hashes.called, { tracer: "prestateTracer" });
    const alice = before[hexOf(ALICE)] as Json;
    assert.equal(alice["nonce"], 1);
    const contract = before[caller] as Json;
    assert.deepEqual(contract, {
      balance: "0x0",
      nonce: 1,
      code: bytesToHex(assemble(CALLER)),
      storage: { [word(1n)]: word(0n) },
    });
    assert.equal(COINBASE in before, false, "an empty account is left out");
    assert.ok(hexOf(CONTRACTS.reverter) in before);

    const { pre, post } = await ask("debug_traceTransaction", hashes.called, {
      tracer: "prestateTracer",
      tracerConfig: { diffMode: true },
    });
    const value = BigInt(alice["balance"] as string);
    assert.deepEqual(post, {
      [hexOf(ALICE)]: { balance: `0x${(value - 10n).toString(16)}`, nonce: 2 },
      [hexOf(BOB)]: {
        balance: `0x${(BigInt(((pre as Json)[hexOf(BOB)] as Json)["balance"] as string) + 3n).toString(16)}`,
      },
      [caller]: { balance: "0x7", storage: { [word(1n)]: word(5n) } },
    });
    assert.deepEqual(Object.keys(pre as Json).sort(), Object.keys(post as Json).sort());
  });

  it("count the functions that were called", async () => {
    const trace = await ask("debug_traceTransaction", hashes.called, { tracer: "4byteTracer" });
    assert.deepEqual(trace, { "0x01020304-28": 1, "0x01020304-0": 2 });
  });

  it("of a block are those of its transactions", async () => {
    const options = { tracer: "callTracer" };
    const traces = (await node.standard("debug_traceBlockByNumber", "0x1", options)) as Json[];
    assert.deepEqual(traces, [
      {
        txHash: hashes.created,
        result: await ask("debug_traceTransaction", hashes.created, options),
      },
      {
        txHash: hashes.called,
        result: await ask("debug_traceTransaction", hashes.called, options),
      },
    ]);
    const { hash } = await ask("eth_getBlockByNumber", "0x1", false);
    assert.deepEqual(await node.standard("debug_traceBlockByHash", hash, options), traces);
    const legacy = (await node.legacy("debug_traceBlockByHash", hash, options)) as Json[];
    assert.deepEqual(legacy, traces, "results are the same in both dialects");
  });

  it("of a call run on any state, and on one that is made up", async () => {
    const call = { from: hexOf(ALICE), to: hexOf(CONTRACTS.reader) };
    const trace = await ask("debug_traceCall", call, "latest", { tracer: "callTracer" });
    assert.equal(trace["output"], word(42n));
    const stateOverrides = {
      [hexOf(CONTRACTS.reader)]: { stateDiff: { [word(0n)]: word(9n) } },
    };
    const made = await ask("debug_traceCall", call, "0x0", {
      tracer: "callTracer",
      stateOverrides,
    });
    assert.equal(made["output"], word(9n));
  });

  it("are refused where there is nothing to trace, or too much", async () => {
    const code = async (method: string, ...params: readonly unknown[]): Promise<number> =>
      (await node.request("/standard", method, params)).error!.code;
    const genesis = bytesToHex(node.chain.blockByNumber(0n)!.transactionHashes[0]!);
    assert.equal(await code("debug_traceTransaction", genesis), -32000);
    assert.equal(await code("debug_traceBlockByNumber", "0x0"), -32000);
    assert.equal(await code("debug_traceTransaction", word(1n)), -32000);
    assert.equal(await code("debug_traceBlockByNumber", "0x9"), -32000);
    assert.equal(await code("debug_traceTransaction", genesis, { tracer: "jsTracer" }), -32602);
    const spin = { to: hexOf(CONTRACTS.spinner) };
    assert.equal(await code("debug_traceCall", spin, "latest"), -32003, "too many steps");
  });
});

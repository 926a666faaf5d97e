/** trace_*, flatCallTracer and muxTracer on a chain in memory. Expectations are counted by hand. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex, type Hex } from "../../../src/base/hex.ts";
import { createdAddress } from "../../../src/chain/address.ts";
import { assemble } from "../evm/bytecode.ts";
import { ALICE, BOB, CONTRACTS, hexOf, REVERT_DATA, RpcNode, word } from "./rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;

/** Sets slot 1 to 5, sends 3 to Bob, hashes with a precompile, calls reverter and thrower. */
const CALLER = [
  "PUSH 5 PUSH 1 SSTORE",
  `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 3 PUSH ${BOB} PUSH 0 CALL POP`,
  "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 2 PUSH 20000 STATICCALL POP",
  `PUSH 0 PUSH 0 PUSH 4 PUSH 0 PUSH 0 PUSH ${CONTRACTS.reverter} PUSH 20000 CALL POP`,
  `PUSH 0 PUSH 0 PUSH 4 PUSH 0 PUSH ${CONTRACTS.thrower} PUSH 2000 DELEGATECALL POP STOP`,
].join(" ");

describe("the trace module", () => {
  let node: RpcNode;
  let hashes: { readonly created: Hex; readonly called: Hex };
  let caller: Hex;

  const ask = async (method: string, ...params: readonly unknown[]): Promise<Json> =>
    (await node.standard(method, ...params)) as Json;
  const list = async (method: string, ...params: readonly unknown[]): Promise<readonly Json[]> =>
    (await node.standard(method, ...params)) as readonly Json[];
  const code = async (method: string, ...params: readonly unknown[]): Promise<number> =>
    (await node.request("/standard", method, params)).error!.code;

  before(async () => {
    node = await RpcNode.open({ limits: { traceBlocksMax: 2 } });
    const body = assemble(CALLER);
    const init = assemble(`PUSH ${body.length} DUP1 PUSH 11 PUSH 0 CODECOPY PUSH 0 RETURN`);
    const head = new Uint8Array(11).fill(0x5b);
    head.set(init);
    const created = await node.send(0, { to: undefined, data: Buffer.concat([head, body]) });
    caller = hexOf(createdAddress(ALICE, 0n));
    const called = await node.send(0, { nonce: 1n, to: BigInt(caller), value: 10n });
    node.chain.seal();
    hashes = { created, called };
  });
  after(() => node.close());

  it("lists the calls of a transaction with their places in the tree and in the chain", async () => {
    const traces = await list("trace_transaction", hashes.called);
    assert.deepEqual(
      traces.map(({ traceAddress }) => traceAddress),
      [[], [0], [1], [2]],
      "the call to a precompile is left out",
    );
    const block = node.chain.latestBlock();
    const place = {
      blockHash: bytesToHex(block.hash),
      blockNumber: 1,
      transactionHash: hashes.called,
      transactionPosition: 1,
    };
    const [top, paid, reverted, thrown] = traces;
    const gas = `0x${(200_000 - 21_000).toString(16)}`;
    const input = "0x";
    assert.deepEqual(top!["action"], {
      ...{ callType: "call", from: hexOf(ALICE), gas, input, to: caller, value: "0xa" },
    });
    assert.equal(top!["subtraces"], 3);
    assert.deepEqual(paid, {
      action: {
        ...{ callType: "call", from: caller, gas: "0x8fc", input, to: hexOf(BOB), value: "0x3" },
      },
      ...place,
      result: { gasUsed: "0x0", output: "0x" },
      ...{ subtraces: 0, traceAddress: [0], type: "call" },
    });
    assert.equal(reverted!["error"], "Reverted");
    assert.equal((reverted!["result"] as Json)["output"], REVERT_DATA);
    assert.equal((thrown!["action"] as Json)["callType"], "delegatecall");
    assert.equal(thrown!["error"], "Bad instruction");
    assert.equal("result" in thrown!, false);
  });

  it("shows a creation with its address and code", async () => {
    const [trace] = await list("trace_transaction", hashes.created);
    assert.equal(trace!["type"], "create");
    const result = trace!["result"] as Json;
    assert.equal(result["address"], caller);
    assert.equal(result["code"], bytesToHex(assemble(CALLER)));
    assert.equal((trace!["action"] as Json)["creationMethod"], "create");
  });

  it("gives all traces of a block in one list", async () => {
    const block = await list("trace_block", "0x1");
    assert.deepEqual(block, [
      ...(await list("trace_transaction", hashes.created)),
      ...(await list("trace_transaction", hashes.called)),
    ]);
    assert.deepEqual(await list("trace_block", "0x0"), [], "nothing ran in block 0");
    assert.equal(await code("trace_block", "0x99"), -32000);
    assert.equal(await node.standard("trace_transaction", word(1n)), null);
  });

  it("finds traces by account, in pages and within limits", async () => {
    const all = { fromBlock: "0x0", toBlock: "0x1" };
    const toBob = await list("trace_filter", { ...all, toAddress: [hexOf(BOB)] });
    assert.deepEqual(toBob, [(await list("trace_transaction", hashes.called))[1]]);
    const fromCaller = await list("trace_filter", { ...all, fromAddress: [caller] });
    assert.equal(fromCaller.length, 3);
    const created = await list("trace_filter", { ...all, toAddress: [caller] });
    assert.deepEqual(
      created.map(({ type }) => type),
      ["create", "call"],
    );
    const page = await list("trace_filter", { ...all, after: 1, count: 2 });
    assert.deepEqual(page, (await list("trace_filter", all)).slice(1, 3));
    assert.equal(await code("trace_filter", { fromBlock: "0x1", toBlock: "0x0" }), -32602);
    await node.send(1, { to: BOB });
    node.chain.seal();
    assert.equal(await code("trace_filter", { fromBlock: "0x0", toBlock: "0x2" }), -32005);
  });

  it("replays a transaction with its calls and what it changed", async () => {
    const types = ["trace", "stateDiff"];
    const replayed = await ask("trace_replayTransaction", hashes.called, types);
    assert.equal(replayed["output"], "0x");
    assert.equal(replayed["vmTrace"], null);
    assert.equal(replayed["transactionHash"], hashes.called);
    assert.equal((replayed["trace"] as readonly Json[]).length, 4);
    assert.equal("blockHash" in (replayed["trace"] as readonly Json[])[0]!, false);
    const diff = replayed["stateDiff"] as Readonly<Record<string, Json>>;
    assert.deepEqual(diff[caller], {
      balance: { "*": { from: "0x0", to: "0x7" } },
      ...{ code: "=", nonce: "=" },
      storage: { [word(1n)]: { "*": { from: word(0n), to: word(5n) } } },
    });
    assert.deepEqual(diff[hexOf(ALICE)]!["nonce"], { "*": { from: "0x1", to: "0x2" } });
    assert.equal(hexOf(CONTRACTS.reverter) in diff, false, "what is as it was is left out");
    const born = await ask("trace_replayTransaction", hashes.created, ["stateDiff"]);
    assert.deepEqual(born["trace"], []);
    const contract = (born["stateDiff"] as Readonly<Record<string, Json>>)[caller];
    assert.deepEqual(contract, {
      balance: { "+": "0x0" },
      code: { "+": bytesToHex(assemble(CALLER)) },
      nonce: { "+": "0x1" },
      storage: {},
    });
    const block = await list("trace_replayBlockTransactions", "0x1", types);
    assert.deepEqual(block[1], replayed);
  });

  it("runs a call, and refuses single steps with a reason", async () => {
    const call = { from: hexOf(ALICE), to: hexOf(CONTRACTS.reverter) };
    const traced = await ask("trace_call", call, ["trace"], "latest");
    assert.equal(traced["output"], REVERT_DATA);
    assert.equal(traced["stateDiff"], null);
    assert.equal((traced["trace"] as readonly Json[])[0]!["error"], "Reverted");
    assert.equal(await code("trace_call", call, ["vmTrace"]), -32004);
    assert.equal(await code("trace_call", call, ["other"]), -32602);
    assert.equal(await code("trace_replayTransaction", word(1n), []), -32000);
    assert.equal(await code("trace_replayBlockTransactions", "0x0", []), -32000);
  });

  it("has its calls in debug_traceTransaction as go-ethereum writes them", async () => {
    const config = (tracerConfig: Json): Json => ({ tracer: "flatCallTracer", tracerConfig });
    const traces = await list("debug_traceTransaction", hashes.called, config({}));
    const receipt = await ask("eth_getTransactionReceipt", hashes.called);
    assert.equal((traces[0]!["action"] as Json)["gas"], "0x30d40");
    assert.equal((traces[0]!["result"] as Json)["gasUsed"], receipt["gasUsed"]);
    assert.equal(traces[2]!["error"], "execution reverted");
    const parity = await list(
      "debug_traceTransaction",
      hashes.called,
      config({ convertParityErrors: true, includePrecompiles: true }),
    );
    assert.equal(parity.length, 5);
    assert.equal(parity[3]!["error"], "Reverted");
  });

  it("runs several tracers at once", async () => {
    const tracerConfig = { callTracer: { onlyTopCall: true }, "4byteTracer": {} };
    const muxed = await ask("debug_traceTransaction", hashes.called, {
      ...{ tracer: "muxTracer", tracerConfig },
    });
    for (const tracer of ["callTracer", "4byteTracer"] as const) {
      const config = { tracer, tracerConfig: tracerConfig[tracer] };
      const alone = await ask("debug_traceTransaction", hashes.called, config);
      assert.deepEqual(muxed[tracer], alone, tracer);
    }
    const nested = { tracer: "muxTracer", tracerConfig: { muxTracer: {} } };
    assert.equal(await code("debug_traceTransaction", hashes.called, nested), -32602);
  });
});

describe("headers and pending transactions", () => {
  it("are those of the block and of the mempool", async () => {
    const node = await RpcNode.open();
    try {
      const { hash } = node.chain.latestBlock();
      const header = await node.standard("eth_getHeaderByNumber", "latest");
      assert.deepEqual(header, await node.standard("eth_getHeaderByHash", bytesToHex(hash)));
      const block = (await node.standard("eth_getBlockByNumber", "0x0", false)) as Json;
      for (const [name, value] of Object.entries(header as Json)) {
        assert.deepEqual(value, block[name], name);
      }
      assert.equal(await node.standard("eth_getHeaderByNumber", "0x9"), null);
      assert.equal(await node.standard("eth_getHeaderByHash", word(1n)), null);
      const sent = await node.send(0, { to: BOB });
      await node.send(1, { nonce: 5n, to: BOB });
      const pending = (await node.standard("eth_pendingTransactions")) as readonly Json[];
      assert.deepEqual(
        pending.map((one) => one["hash"]),
        [sent],
        "one that waits for an earlier nonce is left out",
      );
    } finally {
      await node.close();
    }
  });
});

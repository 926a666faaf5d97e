/**
 * Results of the strict dialect against the schemas of the execution-apis specification, for every
 * method that it has. The specification is in the public domain (CC0), so a copy of it is here.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { Ajv, type ValidateFunction } from "ajv";

import { bytesToHex, type Hex } from "../../../src/base/hex.ts";
import { UNSUPPORTED_METHODS } from "../../../src/rpc/methods/unsupported-methods.ts";
import {
  ALICE,
  BOB,
  CONTRACTS,
  type FilledChain,
  hexOf,
  RpcNode,
  signedTransaction,
  word,
} from "./rpc-node.ts";

type OpenRpc = {
  readonly methods: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly required?: boolean }[];
    readonly result: { readonly schema: object };
  }[];
  readonly components: object;
};

type Case = readonly [method: string, params: readonly unknown[]];
type Counts = { success: number; error: number };

const FILE = path.join(import.meta.dirname, "../../vectors/execution-apis.openrpc.json");
const SPECIFICATION = JSON.parse(readFileSync(FILE, "utf8")) as OpenRpc;
const A = hexOf(ALICE);
const READER = hexOf(CONTRACTS.reader);
const NAMES = ["latest", "earliest", "safe", "finalized", "pending"];
const BLOCKS = ["0x0", "0x1", "0x2", "0x3", ...NAMES];

/** Calls whose results must fit their schema. */
function successes(filled: FilledChain, hash: Hex, genesis: Hex): readonly Case[] {
  const byHash = { blockHash: hash };
  const transactions = [...Object.values(filled), genesis];
  return [
    ...["eth_chainId", "eth_blockNumber", "eth_accounts", "eth_syncing", "eth_gasPrice"].map(bare),
    ...["net_version", "eth_maxPriorityFeePerGas", "eth_coinbase", "eth_baseFee"].map(bare),
    ...["eth_blobBaseFee", "eth_config", "eth_capabilities", "debug_getBadBlocks"].map(bare),
    ...["txpool_status", "txpool_content", "eth_newBlockFilter"].map(bare),
    ["eth_newPendingTransactionFilter", []],
    ["eth_newFilter", [{ fromBlock: "0x0", address: A }]],
    ["eth_uninstallFilter", ["0x1"]],
    ["txpool_contentFrom", [A]],
    ["txpool_contentFrom", [hexOf(0x99n)]],
    ["eth_feeHistory", ["0x4", "latest", [10, 90]]],
    ["eth_feeHistory", ["0x1", "0x0", []]],
    ...BLOCKS.flatMap((block): Case[] => [
      ["eth_getBlockByNumber", [block, true]],
      ["eth_getBlockByNumber", [block, false]],
      ["eth_getBalance", [A, block]],
      ["eth_getTransactionCount", [A, block]],
      ["eth_getBlockReceipts", [block]],
      ["eth_getBlockTransactionCountByNumber", [block]],
      ["eth_getTransactionByBlockNumberAndIndex", [block, "0x0"]],
      ["eth_getProof", [READER, ["0x0", word(7n)], block]],
      ["debug_getRawHeader", [block]],
      ["debug_getRawBlock", [block]],
      ["debug_getRawReceipts", [block]],
    ]),
    ...[hash, word(1n)].flatMap((one): Case[] => [
      ["eth_getBlockByHash", [one, true]],
      ["eth_getBlockTransactionCountByHash", [one]],
      ["eth_getTransactionByBlockHashAndIndex", [one, "0x1"]],
      ["eth_getTransactionByBlockHashAndIndex", [one, "0xff"]],
    ]),
    ["eth_getBlockByNumber", ["0x999", true]],
    ["eth_getBlockReceipts", ["0x999"]],
    ["eth_getBlockReceipts", [byHash]],
    ["eth_getBlockTransactionCountByNumber", ["0x999"]],
    ["eth_getCode", [READER, "latest"]],
    ["eth_getCode", [A, byHash]],
    ["eth_getStorageAt", [READER, "0x0", "latest"]],
    ["eth_getStorageValues", [{ [READER]: ["0x0", "0x1"], [A]: [word(1n)] }, "latest"]],
    ["eth_call", [{ to: READER }, "latest"]],
    ["eth_call", [{ to: A }, byHash]],
    ["eth_estimateGas", [{ from: A, to: hexOf(BOB), value: "0x1" }]],
    ["eth_createAccessList", [{ from: A, to: READER }]],
    ["eth_createAccessList", [{ from: A, to: hexOf(CONTRACTS.reverter) }]],
    ["eth_fillTransaction", [{ from: A, to: hexOf(BOB), value: "0x1" }]],
    ["eth_fillTransaction", [{ from: A, to: hexOf(BOB), gasPrice: "0x0" }]],
    ["eth_fillTransaction", [{ from: A, input: "0x00", gas: "0x30000" }]],
    ...simulations(),
    ["eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest", address: hexOf(CONTRACTS.logger) }]],
    ["eth_getLogs", [byHash]],
    ["eth_sendRawTransaction", [bytesToHex(signedTransaction(0, { nonce: 6n }))]],
    ...transactions.flatMap((one): Case[] => [
      ["eth_getTransactionByHash", [one]],
      ["eth_getTransactionReceipt", [one]],
      ["debug_getRawTransaction", [one]],
    ]),
    ...Object.values(filled).map((one): Case => ["debug_traceTransaction", [one]]),
    ...traces(filled.logged, hash),
    ["eth_getTransactionByHash", [word(1n)]],
    ["eth_getTransactionReceipt", [word(1n)]],
  ];
}

function bare(method: string): Case {
  return [method, []];
}

function simulations(): Case[] {
  const calls = [
    { from: A, to: READER },
    { from: A, to: hexOf(CONTRACTS.reverter) },
    { from: A, to: hexOf(CONTRACTS.thrower), gas: "0x10000" },
    { from: A, to: hexOf(BOB), value: "0x1" },
  ];
  const two = [{ calls }, { blockOverrides: { number: "0x9" }, calls: [] }];
  return [
    ["eth_simulateV1", [{ blockStateCalls: two, traceTransfers: true }, "latest"]],
    ["eth_simulateV1", [{ blockStateCalls: two, returnFullTransactions: true }, "0x2"]],
  ];
}

function traces(transaction: Hex, hash: Hex): Case[] {
  const memory = { enableMemory: true, enableReturnData: true };
  return [
    ["debug_traceTransaction", [transaction, memory]],
    ["debug_traceTransaction", [transaction, { tracer: "callTracer" }]],
    ["debug_traceTransaction", [transaction, { tracer: "prestateTracer" }]],
    ["debug_traceBlockByNumber", ["0x3", memory]],
    ["debug_traceBlockByNumber", ["0x2", { tracer: "callTracer" }]],
    ["debug_traceBlockByHash", [hash]],
  ];
}

/** What must be answered with an error, and which. */
function failures(): readonly (readonly [...Case, code: number])[] {
  return [
    ["eth_call", [{ to: hexOf(CONTRACTS.reverter) }, "latest"], 3],
    ["eth_call", [{ to: A }, "0x999"], -32000],
    ["eth_estimateGas", [{ to: hexOf(CONTRACTS.thrower) }], -32000],
    ["eth_createAccessList", [{ to: A, value: `0x${"f".repeat(40)}` }], -32000],
    ["eth_simulateV1", [{ blockStateCalls: [{ blockOverrides: { number: "0x0" } }] }], -38020],
    ["eth_getBalance", [A, "0x999"], -32000],
    ["eth_getCode", [A, "0x999"], -32000],
    ["eth_getStorageAt", [A, "0x0", "0x999"], -32000],
    ["eth_getProof", [A, [], "0x999"], -32000],
    ["eth_getLogs", [{ fromBlock: "0x2", toBlock: "0x1" }], -32602],
    ["eth_getFilterChanges", ["0x1"], -32000],
    ["eth_getFilterLogs", ["0x1"], -32000],
    ["eth_sendRawTransaction", ["0x00"], -32000],
    ["debug_getRawHeader", ["0x999"], -32000],
    ["debug_getRawBlock", ["0x999"], -32000],
    ["debug_getRawReceipts", ["0x999"], -32000],
    ["debug_traceTransaction", [word(1n)], -32000],
    ["debug_traceBlockByNumber", ["0x0"], -32000],
    ["debug_traceBlockByHash", [word(1n)], -32000],
  ];
}

describe("the schemas of the execution APIs", () => {
  const schemas = loadSchemas();
  const counts = new Map<string, Counts>();
  let node: RpcNode;

  const count = (method: string, kind: keyof Counts): void => {
    const known = counts.get(method) ?? { success: 0, error: 0 };
    known[kind]++;
    counts.set(method, known);
  };
  const check = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const validate = schemas.get(method);
    assert.ok(validate !== undefined, `${method} is in the specification`);
    const result = await node.standard(method, ...params);
    const isValid = validate(result);
    const text = `${method} ${JSON.stringify(params)}: ${JSON.stringify(result)}`.slice(0, 2_000);
    assert.ok(isValid, `${text}\n${JSON.stringify(validate.errors?.slice(0, 5))}`);
    count(method, "success");
    return result;
  };

  before(async () => {
    node = await RpcNode.open();
  });
  after(async () => {
    await node.close();
    printCoverage(counts);
  });

  it("hold for every result of the strict dialect, the genesis block included", async () => {
    const filled = await node.fill();
    const genesis = bytesToHex(node.chain.blockByNumber(0n)!.transactionHashes[0]!);
    const hash = bytesToHex(node.chain.latestBlock().hash);
    // One that can be ordered and one that cannot, for the methods of the pool.
    await node.send(0, { nonce: 5n, to: BOB });
    await node.send(1, { nonce: 9n, to: BOB });
    const filters = [
      await check("eth_newFilter", [{ address: hexOf(CONTRACTS.logger) }]),
      await check("eth_newBlockFilter", []),
      await check("eth_newPendingTransactionFilter", []),
    ];
    for (const [method, params] of successes(filled, hash, genesis)) await check(method, params);
    await node.send(0, { nonce: 7n, to: CONTRACTS.logger, data: new Uint8Array(32) });
    node.chain.seal();
    for (const filter of filters) {
      const changes = (await check("eth_getFilterChanges", [filter])) as readonly unknown[];
      assert.ok(changes.length > 0);
    }
    await check("eth_getFilterLogs", [filters[0]]);
    await check("eth_uninstallFilter", [filters[0]]);
  });

  it("leave errors to codes: each method has one for what cannot be, and for wrong params", async () => {
    for (const [method, params, code] of failures()) {
      const { error } = await node.request("/standard", method, params);
      assert.equal(error?.code, code, `${method} ${JSON.stringify(params)}`);
      assert.ok(error.message.length > 0);
      count(method, "error");
    }
    for (const { name, params } of SPECIFICATION.methods) {
      if (UNSUPPORTED_METHODS.has(name)) {
        const { error } = await node.request("/standard", name, []);
        assert.equal(error?.code, -32004, name);
        count(name, "error");
        continue;
      }
      const wrong = params.some(({ required }) => required !== false) ? [] : [1, 1, 1, 1, 1];
      const { error } = await node.request("/standard", name, wrong);
      assert.equal(error?.code, -32602, `${name} ${JSON.stringify(wrong)}`);
      count(name, "error");
    }
  });

  it("are all covered, but for methods that make no sense here", () => {
    const missing = SPECIFICATION.methods
      .map(({ name }) => name)
      .filter((name) => !UNSUPPORTED_METHODS.has(name))
      .filter((name) => (counts.get(name)?.success ?? 0) === 0);
    assert.deepEqual(missing, []);
  });

  it("are strict enough to refuse the legacy shapes", async () => {
    const validate = schemas.get("eth_getBlockByNumber")!;
    assert.equal(validate(await node.standard("eth_getBlockByNumber", "0x0", true)), true);
    assert.equal(validate(await node.legacy("eth_getBlockByNumber", "0x0", true)), false);
  });
});

function loadSchemas(): ReadonlyMap<string, ValidateFunction> {
  const { methods, components }: OpenRpc = SPECIFICATION;
  const ajv = new Ajv({ strict: false, allErrors: true });
  return new Map(
    methods.map(({ name, result }) => [name, ajv.compile({ ...result.schema, components })]),
  );
}

function printCoverage(counts: ReadonlyMap<string, Counts>): void {
  const rows = SPECIFICATION.methods.map(({ name }) => {
    const { success, error } = counts.get(name) ?? { success: 0, error: 0 };
    const note = UNSUPPORTED_METHODS.has(name) ? "  not supported" : "";
    return `${name.padEnd(42)} ${String(success).padStart(7)} ${String(error).padStart(6)}${note}`;
  });
  console.log(`method of the execution APIs               results errors\n${rows.join("\n")}`);
}

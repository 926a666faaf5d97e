/** Results of the strict dialect against the schemas of the execution-apis specification. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import { Ajv, type ValidateFunction } from "ajv";

import { bytesToHex } from "../../../src/base/hex.ts";
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
    readonly result: { readonly schema: object };
  }[];
  readonly components: object;
};

const DATA =
  process.env["CONFORMANCE_DATA"] ??
  path.join(import.meta.dirname, "../../../../shared/conformance");
const FILE = path.join(DATA, "openrpc.json");
const isThere = existsSync(FILE);
if (!isThere) console.log("schemas of the execution APIs: left out, no openrpc.json");

/** Calls whose results must fit their schema, for each method that the specification has. */
function successes(filled: FilledChain): readonly (readonly [string, readonly unknown[]])[] {
  const alice = hexOf(ALICE);
  const blocks = ["0x0", "0x1", "0x2", "0x3", "latest", "earliest", "safe", "finalized", "pending"];
  return [
    ["eth_chainId", []],
    ["eth_blockNumber", []],
    ["eth_accounts", []],
    ["eth_syncing", []],
    ["net_version", []],
    ["eth_gasPrice", []],
    ["eth_maxPriorityFeePerGas", []],
    ["eth_feeHistory", ["0x4", "latest", [10, 90]]],
    ["eth_feeHistory", ["0x1", "0x0", []]],
    ...blocks.flatMap((block) => [
      ["eth_getBlockByNumber", [block, true]] as const,
      ["eth_getBlockByNumber", [block, false]] as const,
      ["eth_getBalance", [alice, block]] as const,
      ["eth_getTransactionCount", [alice, block]] as const,
    ]),
    ["eth_getBlockByNumber", ["0x999", true]],
    ["eth_getBlockByHash", [word(1n), true]],
    ["eth_getCode", [hexOf(CONTRACTS.reader), "latest"]],
    ["eth_getCode", [alice, "latest"]],
    ["eth_getStorageAt", [hexOf(CONTRACTS.reader), "0x0", "latest"]],
    ["eth_call", [{ to: hexOf(CONTRACTS.reader) }, "latest"]],
    ["eth_call", [{ to: alice }, "latest"]],
    ["eth_estimateGas", [{ from: alice, to: hexOf(BOB), value: "0x1" }]],
    ["eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest", address: hexOf(CONTRACTS.logger) }]],
    ["eth_sendRawTransaction", [bytesToHex(signedTransaction(0, { nonce: 5n }))]],
    ...Object.values(filled).flatMap((hash) => [
      ["eth_getTransactionByHash", [hash]] as const,
      ["eth_getTransactionReceipt", [hash]] as const,
    ]),
    ["eth_getTransactionByHash", [word(1n)]],
    ["eth_getTransactionReceipt", [word(1n)]],
  ];
}

describe("the schemas of the execution APIs", { skip: !isThere }, () => {
  it("hold for every result of the strict dialect, the genesis block included", async () => {
    const schemas = loadSchemas();
    const node = await RpcNode.open();
    try {
      const filled = await node.fill();
      const genesis = bytesToHex(node.chain.blockByNumber(0n)!.transactionHashes[0]!);
      const cases = [
        ...successes(filled),
        ["eth_getTransactionByHash", [genesis]] as const,
        ["eth_getTransactionReceipt", [genesis]] as const,
      ];
      const checked = new Map<string, number>();
      for (const [method, params] of cases) {
        const validate = schemas.get(method);
        assert.ok(validate !== undefined, `${method} is in the specification`);
        const result = await node.standard(method, ...params);
        const isValid = validate(result);
        const text = `${method} ${JSON.stringify(params)}: ${JSON.stringify(result)}`;
        assert.ok(isValid, `${text}\n${JSON.stringify(validate.errors?.slice(0, 5))}`);
        checked.set(method, (checked.get(method) ?? 0) + 1);
      }
      assert.equal(checked.size, 20);
    } finally {
      await node.close();
    }
  });

  it("are strict enough to refuse the founding shapes", async () => {
    const validate = loadSchemas().get("eth_getBlockByNumber")!;
    const node = await RpcNode.open();
    try {
      assert.equal(validate(await node.standard("eth_getBlockByNumber", "0x0", true)), true);
      assert.equal(validate(await node.founding("eth_getBlockByNumber", "0x0", true)), false);
    } finally {
      await node.close();
    }
  });
});

function loadSchemas(): ReadonlyMap<string, ValidateFunction> {
  const { methods, components } = JSON.parse(readFileSync(FILE, "utf8")) as OpenRpc;
  const ajv = new Ajv({ strict: false, allErrors: true });
  return new Map(
    methods.map(({ name, result }) => [name, ajv.compile({ ...result.schema, components })]),
  );
}

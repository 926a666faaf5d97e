/** The sample call (SPEC E1-E4), field by field and type by type. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { createGenesisBlock } from "../../../src/chain/genesis-block.ts";
import { bytesToHex } from "../../../src/base/hex.ts";
import { GENESIS, RICH } from "../execution/test-chain.ts";
import { ALICE, CONTRACTS, hexOf, LOG_TOPIC, RpcNode, word } from "./rpc-node.ts";

type JsonRecord = Readonly<Record<string, unknown>>;

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const DATA = /^0x([0-9a-f]{2})*$/;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const ZERO_HASH = `0x${"0".repeat(64)}`;

/** E3: each field with its form. */
const BLOCK_FORMS: Readonly<Record<string, RegExp | "integer" | "array">> = {
  extraData: DATA,
  gasLimit: QUANTITY,
  gasUsed: QUANTITY,
  hash: HASH,
  miner: ADDRESS,
  nonce: /^0x[0-9a-f]{16}$/,
  number: QUANTITY,
  parentHash: HASH,
  size: "integer",
  stateRoot: HASH,
  timestamp: QUANTITY,
  transactions: "array",
};

/** E4. */
const TRANSACTION_FORMS: Readonly<Record<string, RegExp | "integer" | "array">> = {
  blockHash: HASH,
  blockNumber: QUANTITY,
  contractAddress: /^0x([0-9a-f]{40})?$/,
  from: ADDRESS,
  gas: QUANTITY,
  gasPrice: "integer",
  hash: HASH,
  input: DATA,
  logs: "array",
  nonce: QUANTITY,
  to: ADDRESS,
  transactionIndex: QUANTITY,
  value: HASH,
};

describe("the legacy dialect", () => {
  let node: RpcNode;

  before(async () => {
    node = await RpcNode.open();
    await node.fill();
  });
  after(() => node.close());

  it("answers the sample call with block 0 and exactly one full transaction", async () => {
    const { status, headers, text } = await node.post(
      '{"id":1,"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":["0x00",true]}',
      "/",
      { "content-type": "application/json", accept: "application/json" },
    );
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/json");
    const response = JSON.parse(text) as JsonRecord;
    assert.deepEqual(Object.keys(response), ["id", "jsonrpc", "method", "result"]);
    assert.equal(response["id"], 1);
    assert.equal(response["jsonrpc"], "2.0");
    assert.equal(response["method"], "eth_getBlockByNumber");
    const block = response["result"] as JsonRecord;
    assertForms(block, BLOCK_FORMS);
    assert.equal(block["number"], "0x0");
    assert.equal(block["parentHash"], ZERO_HASH);
    const transactions = block["transactions"] as JsonRecord[];
    assert.equal(transactions.length, 1);
    const [transaction = {}] = transactions;
    assertForms(transaction, TRANSACTION_FORMS);
    const genesis = createGenesisBlock(GENESIS, new Uint8Array(32));
    assert.deepEqual(pick(transaction, Object.keys(TRANSACTION_FORMS)), {
      blockHash: block["hash"],
      blockNumber: "0x0",
      contractAddress: "0x",
      from: `0x${"0".repeat(40)}`,
      gas: "0x0",
      gasPrice: 0,
      hash: bytesToHex(genesis.transaction.hash),
      input: "0x",
      logs: [],
      nonce: "0x0",
      to: hexOf(ALICE),
      transactionIndex: "0x0",
      value: word(RICH),
    });
  });

  it("gives records of every later block in the same shape", async () => {
    for (const number of ["0x1", "0x2", "0x03", "latest"]) {
      const block = (await node.legacy("eth_getBlockByNumber", number, true)) as JsonRecord;
      assertForms(block, BLOCK_FORMS);
      for (const transaction of block["transactions"] as JsonRecord[]) {
        const { to, ...rest } = transaction;
        // A creation has no target; libraries know it by null.
        const forms = to === null ? { ...TRANSACTION_FORMS, to: /^null$/ } : TRANSACTION_FORMS;
        assertForms({ ...rest, to: to ?? "null" }, forms);
      }
    }
  });

  it("names the created contract, and lists logs with their place in the block", async () => {
    const second = (await node.legacy("eth_getBlockByNumber", "0x2", true)) as JsonRecord;
    const [creation = {}] = second["transactions"] as JsonRecord[];
    const address = creation["contractAddress"];
    assert.equal(await node.legacy("eth_getCode", address, "latest"), "0x00");
    const third = (await node.legacy("eth_getBlockByNumber", "0x3", true)) as JsonRecord;
    const transactions = third["transactions"] as JsonRecord[];
    const logs = transactions.map((transaction) => transaction["logs"] as JsonRecord[]);
    assert.deepEqual(
      logs.map((list) => list.length),
      [1, 1, 0],
    );
    assert.deepEqual(logs[1]![0], {
      address: hexOf(CONTRACTS.logger),
      topics: [word(LOG_TOPIC), word(2n)],
      data: word(0n),
      blockNumber: "0x3",
      transactionHash: transactions[1]!["hash"],
      transactionIndex: "0x1",
      blockHash: third["hash"],
      blockTimestamp: third["timestamp"],
      logIndex: "0x1",
      removed: false,
    });
  });

  it("differs from the strict dialect in the fields that E3 and E4 name alone", async () => {
    for (const number of ["0x0", "0x1", "0x2", "0x3"]) {
      const ours = (await node.legacy("eth_getBlockByNumber", number, true)) as JsonRecord;
      const strict = (await node.standard("eth_getBlockByNumber", number, true)) as JsonRecord;
      const { transactions: ourRecords, size: ourSize, ...ourRest } = ours;
      const { transactions: strictRecords, size: strictSize, ...strictRest } = strict;
      assert.deepEqual(ourRest, strictRest, number);
      assert.equal(`0x${(ourSize as number).toString(16)}`, strictSize, number);
      (strictRecords as JsonRecord[]).forEach((record, index) => {
        const our = (ourRecords as JsonRecord[])[index]!;
        assert.equal(BigInt(our["value"] as string), BigInt(record["value"] as string));
        assert.equal(BigInt(our["gasPrice"] as number), BigInt(record["gasPrice"] as string));
        const names = Object.keys(record).filter((name) => !["value", "gasPrice"].includes(name));
        assert.deepEqual(pick(our, names), pick(record, names), number);
        const added = Object.keys(our).filter((name) => !(name in record));
        assert.deepEqual(added.toSorted(), ["contractAddress", "logs"], number);
      });
    }
  });

  it("writes a price above 2^53 as an exact integer", async () => {
    const own = await RpcNode.open();
    try {
      await own.send(0, { type: 0, gasPrice: 2n ** 54n + 1n, gasLimit: 21_000n });
      own.chain.seal();
      const body = { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["0x1", true] };
      const { text } = await own.post(JSON.stringify(body));
      assert.match(text, new RegExp(`"gasPrice":${2n ** 54n + 1n}[,}]`));
    } finally {
      await own.close();
    }
  });

  it("takes leading zeros, which the strict dialect refuses", async () => {
    const ours = await node.request("/", "eth_getBlockByNumber", ["0x00", false]);
    assert.equal(ours.error, undefined);
    const strict = await node.request("/standard", "eth_getBlockByNumber", ["0x00", false]);
    assert.equal(strict.error?.code, -32602);
    assert.equal("method" in strict, false);
  });

  it("is left to /standard when the setting swaps what / speaks", async () => {
    const swapped = await RpcNode.open({ rootDialect: "standard" });
    try {
      const response = await swapped.request("/", "eth_getBlockByNumber", ["0x0", true]);
      assert.equal("method" in response, false);
      assert.equal(typeof (response.result as JsonRecord)["size"], "string");
    } finally {
      await swapped.close();
    }
  });
});

function assertForms(
  record: JsonRecord,
  forms: Readonly<Record<string, RegExp | "integer" | "array">>,
): void {
  for (const [name, form] of Object.entries(forms)) {
    const value = record[name];
    if (form === "integer") assert.ok(Number.isInteger(value), `${name}: ${String(value)}`);
    else if (form === "array") assert.ok(Array.isArray(value), `${name} is an array`);
    else assert.match(value as string, form, name);
  }
}

function pick(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}

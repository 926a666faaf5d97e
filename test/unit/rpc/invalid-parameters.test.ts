import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { ALICE, hexOf, RpcNode, word } from "./rpc-node.ts";

const A = hexOf(ALICE);
const HASH = word(1n);

/** Method, parameters, and what the message must name. */
const REFUSED: readonly (readonly [string, readonly unknown[], RegExp])[] = [
  ["eth_chainId", [1], /at most 0 parameters, got 1/],
  ["eth_getBalance", [], /parameter 0: expected an address.*got nothing/],
  ["eth_getBalance", [A.slice(0, -1)], /parameter 0: expected an address/],
  ["eth_getBalance", [A.slice(2)], /parameter 0: expected an address/],
  ["eth_getBalance", [`${A.slice(0, -1)}g`], /parameter 0: expected an address/],
  ["eth_getBalance", [7], /parameter 0: expected an address.*got 7/],
  ["eth_getBalance", [[]], /parameter 0: expected an address.*got an array of 0/],
  ["eth_getBalance", [A, "newest"], /parameter 1: expected a 0x-hex block number or one of latest/],
  ["eth_getBalance", [A, 5], /parameter 1: expected a 0x-hex block number.*got 5/],
  ["eth_getBalance", [A, "0x"], /parameter 1: expected a quantity/],
  ["eth_getBalance", [A, "0x0x"], /parameter 1: expected a quantity/],
  ["eth_getBalance", [A, "0x01"], /parameter 1: expected a quantity without leading zeros/],
  [
    "eth_getBalance",
    [A, "0x10000000000000000"],
    /parameter 1: expected a quantity of at most 64 bits/,
  ],
  ["eth_getBalance", [A, {}], /parameter 1: expected either blockHash or blockNumber/],
  [
    "eth_getBalance",
    [A, { blockHash: HASH, blockNumber: "0x1" }],
    /either blockHash or blockNumber/,
  ],
  ["eth_getBalance", [A, { blockHash: "0x1" }], /parameter 1.blockHash: expected a 32-byte hash/],
  [
    "eth_getBalance",
    [A, { blockNumber: "0x1", requireCanonical: 1 }],
    /1.requireCanonical: expected true or false/,
  ],
  ["eth_getBalance", [A, { number: "0x1" }], /parameter 1: unknown field "number"/],
  ["eth_getBalance", [A, "latest", 1], /at most 2 parameters, got 3/],
  ["eth_getBlockByNumber", ["0x0"], /parameter 1: expected true or false, got nothing/],
  ["eth_getBlockByNumber", ["0x0", "true"], /parameter 1: expected true or false, got "true"/],
  ["eth_getBlockByNumber", [null, true], /parameter 0: expected a 0x-hex block number/],
  ["eth_getBlockByHash", [HASH.slice(0, -2), true], /parameter 0: expected a 32-byte hash/],
  ["eth_getTransactionByHash", [`${HASH}00`], /parameter 0: expected a 32-byte hash/],
  ["eth_getTransactionReceipt", [{}], /parameter 0: expected a 32-byte hash.*got an object/],
  ["eth_getStorageAt", [A, "one"], /parameter 1: expected a storage key/],
  ["eth_getStorageAt", [A], /parameter 1: expected a storage key.*got nothing/],
  ["eth_sendRawTransaction", ["0x1"], /parameter 0: expected data/],
  ["eth_sendRawTransaction", ["zz"], /parameter 0: expected data/],
  ["web3_sha3", [null], /parameter 0: expected data.*got null/],
  ["eth_call", [], /parameter 0: expected an object, got nothing/],
  ["eth_call", ["0x"], /parameter 0: expected an object/],
  ["eth_call", [{ to: "0x1" }], /parameter 0.to: expected an address/],
  ["eth_call", [{ from: 1 }], /parameter 0.from: expected an address/],
  ["eth_call", [{ to: A, data: "0x0" }], /parameter 0.data: expected data/],
  ["eth_call", [{ to: A, data: "0x00", input: "0x01" }], /input and data differ/],
  ["eth_call", [{ to: A, value: 1 }], /parameter 0.value: expected a quantity/],
  [
    "eth_call",
    [{ to: A, value: `0x1${"0".repeat(64)}` }],
    /parameter 0.value: expected a quantity/,
  ],
  ["eth_call", [{ to: A, gas: "0x10000000000000000" }], /parameter 0.gas: .* at most 64 bits/],
  ["eth_call", [{ to: A, vlaue: "0x1" }], /parameter 0: unknown field "vlaue"; known are type/],
  ["eth_call", [{ to: A, gasPrice: "0x0", maxFeePerGas: "0x0" }], /not both/],
  [
    "eth_call",
    [{ to: A, maxFeePerGas: "0x1", maxPriorityFeePerGas: "0x2" }],
    /maxFeePerGas is below/,
  ],
  ["eth_call", [{ to: A, accessList: {} }], /parameter 0.accessList: expected an array/],
  [
    "eth_call",
    [{ to: A, accessList: [{ address: A, storageKeys: ["0x1"] }] }],
    /0.accessList.0.storageKeys.0: expected a 32-byte/,
  ],
  ["eth_call", [{ to: A, authorizationList: [] }], /at least one authorization/],
  [
    "eth_call",
    [
      {
        authorizationList: [
          { chainId: "0x0", address: A, nonce: "0x0", yParity: "0x0", r: "0x1", s: "0x1" },
        ],
      },
    ],
    /cannot create a contract/,
  ],
  ["eth_call", [{ to: A }, "latest", {}, {}, 1], /at most 4 parameters/],
  ["eth_call", [{ to: A }, "latest", { "0x1": {} }], /parameter 2: expected addresses as keys/],
  ["eth_call", [{ to: A }, "latest", { [A]: { gas: "0x1" } }], /unknown field "gas"/],
  ["eth_call", [{ to: A }, "latest", { [A]: { balance: 1 } }], /balance: expected a quantity/],
  ["eth_call", [{ to: A }, "latest", { [A]: { state: {}, stateDiff: {} } }], /not both/],
  ["eth_call", [{ to: A }, "latest", { [A]: { state: { "0x1": HASH } } }], /a 32-byte hash/],
  ["eth_call", [{ to: A }, "latest", {}, { time: 1 }], /parameter 3.time: expected a quantity/],
  ["eth_getProof", [A, {}], /parameter 1: expected an array/],
  ["eth_getProof", [A, [1]], /parameter 1.0: expected a storage key/],
  ["eth_getBlockReceipts", [], /parameter 0: expected a value, got nothing/],
  ["eth_getTransactionByBlockHashAndIndex", [HASH, 1], /parameter 1: expected a quantity/],
  ["eth_getStorageValues", [{}], /from 1 to 1024 slots, got 0/],
  ["eth_sendRawTransactionSync", ["0x", "0x1"], /parameter 1: expected a positive number/],
  ["debug_getRawBlock", ["newest"], /parameter 0: expected a 0x-hex block number/],
  ["quorate_getTransactionStatus", ["0x1"], /parameter 0: expected a 32-byte hash/],
  ["eth_estimateGas", [null], /parameter 0: expected an object, got null/],
  ["eth_feeHistory", ["0x1", "latest", [50, 10]], /parameter 2.1: expected a number from 0 to 100/],
  ["eth_feeHistory", ["0x1", "latest", [101]], /parameter 2.0: expected a number/],
  ["eth_feeHistory", [-1, "latest"], /parameter 0: expected a quantity/],
  ["eth_feeHistory", [1.5, "latest"], /parameter 0: expected a quantity/],
  ["eth_feeHistory", ["0x1"], /parameter 1: expected a 0x-hex block number/],
  ["eth_getLogs", [], /parameter 0: expected an object/],
  ["eth_getLogs", [{ address: "0x" }], /parameter 0.address: expected an address/],
  ["eth_getLogs", [{ address: [A, 1] }], /parameter 0.address.1: expected an address/],
  ["eth_getLogs", [{ topics: HASH }], /parameter 0.topics: expected an array/],
  ["eth_getLogs", [{ topics: [1] }], /parameter 0.topics.0: expected a 32-byte hash/],
  ["eth_getLogs", [{ topics: [[HASH, "0x"]] }], /parameter 0.topics.0.1: expected a 32-byte hash/],
  [
    "eth_getLogs",
    [{ topics: [null, null, null, null, null] }],
    /parameter 0.topics: at most 4 entries, got 5/,
  ],
  ["eth_getLogs", [{ address: new Array(1_001).fill(A) }], /at most 1000 entries/],
  ["eth_getLogs", [{ blockHash: HASH, fromBlock: "0x0" }], /not both/],
  ["eth_getLogs", [{ fromBlock: "0x01" }], /parameter 0.fromBlock: .* leading zeros/],
  ["eth_getLogs", [{ toBlock: { blockNumber: "0x1" } }], /parameter 0.toBlock: expected a 0x-hex/],
];

describe("invalid parameters", () => {
  let node: RpcNode;

  before(async () => {
    node = await RpcNode.open();
  });
  after(() => node.close());

  it("are refused with -32602, the place and what is expected there", async () => {
    for (const [method, params, message] of REFUSED) {
      const { error } = await node.request("/standard", method, params);
      const text = `${method} ${JSON.stringify(params).slice(0, 100)}`;
      assert.equal(error?.code, -32602, `${text}: ${error?.message ?? "accepted"}`);
      assert.match(error.message, message, text);
      assert.ok(error.message.length < 400, `${text}: a short message`);
    }
    assert.deepEqual(node.internalErrors, []);
  });

  it("are shown in part if they are long", async () => {
    const { error } = await node.request("/", "eth_getBalance", ["x".repeat(100_000)]);
    assert.ok(error !== undefined && error.message.length < 200);
  });

  it("are not missed because of fields that a library adds, on the legacy dialect", async () => {
    const call = [{ to: A, note: "mine" }, "latest"];
    assert.equal((await node.request("/", "eth_call", call)).result, "0x");
    const padded = [{ to: A, value: word(0n) }, "0x00"];
    assert.equal((await node.request("/", "eth_call", padded)).result, "0x");
    const blobs = [{ to: A, blobVersionedHashes: [HASH] }];
    assert.equal((await node.request("/", "eth_call", blobs)).error?.code, -32602);
  });
});

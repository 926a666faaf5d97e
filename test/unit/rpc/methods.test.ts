import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { bytesToHex } from "../../../src/base/hex.ts";
import { createdAddress } from "../../../src/chain/address.ts";
import { RICH } from "../execution/test-chain.ts";
import {
  ALICE,
  BOB,
  CAROL,
  CONTRACTS,
  type FilledChain,
  hexOf,
  LOG_TOPIC,
  REVERT_DATA,
  RpcNode,
  signedTransaction,
  word,
} from "./rpc-node.ts";

type JsonRecord = Readonly<Record<string, unknown>>;

const UNKNOWN_HASH = word(0xdeadn);

const MODULES = {
  ...{ debug: "1.0", eth: "1.0", net: "1.0", quorate: "1.0", rpc: "1.0", txpool: "1.0" },
  ...{ ots: "1.0", trace: "1.0", web3: "1.0" },
};

describe("the methods", () => {
  let node: RpcNode;
  let filled: FilledChain;

  before(async () => {
    node = await RpcNode.open();
    filled = await node.fill();
  });
  after(() => node.close());

  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    node.standard(method, ...params);
  const fail = async (method: string, ...params: readonly unknown[]): Promise<[number, string]> => {
    const { error } = await node.request("/standard", method, params);
    assert.ok(error !== undefined, `${method} should fail`);
    return [error.code, error.message];
  };

  it("name the chain, the node and what it can do", async () => {
    assert.equal(await ask("eth_chainId"), "0x1388");
    assert.equal(await ask("net_version"), "5000");
    assert.equal(await ask("net_listening"), true);
    assert.equal(await ask("web3_clientVersion"), node.chain.clientVersion);
    assert.deepEqual(await ask("eth_accounts"), []);
    assert.deepEqual(await ask("rpc_modules"), MODULES);
    assert.equal(await ask("eth_blockNumber"), "0x3");
    const empty = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    assert.equal(await ask("web3_sha3", "0x"), empty);
  });

  it("say whether the node still catches up", async () => {
    assert.equal(await ask("eth_syncing"), false);
    node.chain.progress = { startingBlock: 1n, currentBlock: 2n, highestBlock: 300n };
    const progress = { startingBlock: "0x1", currentBlock: "0x2", highestBlock: "0x12c" };
    assert.deepEqual(await ask("eth_syncing"), progress);
    node.chain.progress = undefined;
  });

  it("read accounts at any block, named in every way", async () => {
    const alice = hexOf(ALICE);
    const genesis = (await ask("eth_getBlockByNumber", "earliest", false)) as JsonRecord;
    const cases: readonly (readonly [block: unknown, nonce: string, balance: bigint])[] = [
      ["earliest", "0x0", RICH],
      ["0x0", "0x0", RICH],
      [{ blockNumber: "0x0" }, "0x0", RICH],
      [{ blockHash: genesis["hash"] }, "0x0", RICH],
      [{ blockHash: genesis["hash"], requireCanonical: true }, "0x0", RICH],
      [genesis["hash"], "0x0", RICH],
    ];
    for (const [block, nonce, balance] of cases) {
      const text = JSON.stringify(block);
      assert.equal(await ask("eth_getTransactionCount", alice, block), nonce, text);
      assert.equal(await ask("eth_getBalance", alice, block), `0x${balance.toString(16)}`, text);
    }
    for (const block of ["latest", "safe", "finalized", "pending", "0x3", undefined, null]) {
      assert.equal(await ask("eth_getTransactionCount", alice, block), "0x5", String(block));
    }
    assert.equal(await ask("eth_getBalance", hexOf(0x999n), "latest"), "0x0");
    assert.equal(await ask("eth_getCode", alice, "latest"), "0x");
    const delegation = `0xef0100${hexOf(CONTRACTS.reader).slice(2)}`;
    assert.equal(await ask("eth_getCode", hexOf(CAROL), "latest"), delegation);
  });

  it("read slots by full and by shortened keys", async () => {
    const reader = hexOf(CONTRACTS.reader);
    for (const key of [word(0n), "0x0", "0x", "0x000"]) {
      assert.equal(await ask("eth_getStorageAt", reader, key, "latest"), word(42n), key);
    }
    assert.equal(await ask("eth_getStorageAt", reader, "0x1"), word(0n));
    const [code, message] = await fail("eth_getStorageAt", reader, `${word(0n)}0`, "latest");
    assert.equal(code, -32602);
    assert.match(message, /parameter 1.*32 bytes/);
  });

  it("count pooled transactions in the pending nonce", async () => {
    const own = await RpcNode.open();
    try {
      await own.send(0, {});
      await own.send(0, { nonce: 1n });
      await own.send(0, { nonce: 3n });
      const count = (tag: string): Promise<unknown> =>
        own.standard("eth_getTransactionCount", hexOf(ALICE), tag);
      assert.equal(await count("pending"), "0x2");
      assert.equal(await count("latest"), "0x0");
    } finally {
      await own.close();
    }
  });

  it("find blocks by number and by hash, and answer null for unknown ones", async () => {
    const byNumber = (await ask("eth_getBlockByNumber", "0x2", false)) as JsonRecord;
    assert.deepEqual(byNumber["transactions"], [filled.created, filled.delegating]);
    assert.deepEqual(await ask("eth_getBlockByHash", byNumber["hash"], false), byNumber);
    const full = (await ask("eth_getBlockByHash", byNumber["hash"], true)) as JsonRecord;
    const [creation] = full["transactions"] as JsonRecord[];
    assert.deepEqual(creation, await ask("eth_getTransactionByHash", filled.created));
    assert.equal(await ask("eth_getBlockByNumber", "0x4", false), null);
    assert.equal(await ask("eth_getBlockByNumber", "0xffffffffffffffff", true), null);
    assert.equal(await ask("eth_getBlockByHash", UNKNOWN_HASH, true), null);
  });

  it("show a transaction of each type with the fields of its type", async () => {
    const show = async (hash: string): Promise<JsonRecord> =>
      (await ask("eth_getTransactionByHash", hash)) as JsonRecord;
    const legacy = await show(filled.legacy);
    assert.deepEqual([legacy["type"], legacy["value"], legacy["to"]], ["0x0", "0x7", hexOf(BOB)]);
    assert.match(legacy["v"] as string, /^0x273[34]$/);
    assert.equal("yParity" in legacy, false);
    const listed = await show(filled.listed);
    const entry = { address: hexOf(BOB), storageKeys: [word(1n)] };
    assert.deepEqual([listed["type"], listed["gasPrice"]], ["0x1", "0x3"]);
    assert.deepEqual(listed["accessList"], [entry]);
    const priced = await show(filled.priced);
    assert.equal(priced["gasPrice"], "0x5", "the effective price, not the most that may be paid");
    assert.deepEqual([priced["maxFeePerGas"], priced["maxPriorityFeePerGas"]], ["0x3e8", "0x5"]);
    assert.equal(priced["v"], priced["yParity"]);
    const created = await show(filled.created);
    assert.deepEqual([created["to"], created["input"]], [null, "0x60015ff3"]);
    const delegating = await show(filled.delegating);
    const [authorization = {}] = delegating["authorizationList"] as JsonRecord[];
    assert.equal(authorization["address"], hexOf(CONTRACTS.reader));
    assert.equal(await ask("eth_getTransactionByHash", UNKNOWN_HASH), null);
  });

  it("show an accepted transaction before it is final, without a place", async () => {
    const own = await RpcNode.open();
    try {
      const hash = await own.send(0, { maxFeePerGas: 9n });
      const pending = (await own.standard("eth_getTransactionByHash", hash)) as JsonRecord;
      const { blockHash, blockNumber, transactionIndex, gasPrice } = pending;
      assert.deepEqual([blockHash, blockNumber, transactionIndex], [null, null, null]);
      assert.equal(gasPrice, "0x9");
      assert.equal(await own.standard("eth_getTransactionReceipt", hash), null);
    } finally {
      await own.close();
    }
  });

  it("give receipts with own gas, logs and the created contract", async () => {
    const receipt = async (hash: string): Promise<JsonRecord> =>
      (await ask("eth_getTransactionReceipt", hash)) as JsonRecord;
    const second = await receipt(filled.listed);
    assert.equal(second["status"], "0x1");
    assert.equal(second["effectiveGasPrice"], "0x3");
    const first = await receipt(filled.legacy);
    assert.equal(first["gasUsed"], "0x5208");
    const sum = BigInt(first["gasUsed"]) + BigInt(second["gasUsed"] as string);
    assert.equal(BigInt(second["cumulativeGasUsed"] as string), sum);
    const created = await receipt(filled.created);
    assert.deepEqual(
      [created["to"], created["contractAddress"]],
      [null, hexOf(createdAddress(ALICE, 2n))],
    );
    const reverted = await receipt(filled.reverted);
    assert.deepEqual([reverted["status"], reverted["logs"]], ["0x0", []]);
    assert.equal(reverted["contractAddress"], null);
    const logged = await receipt(filled.loggedAgain);
    const [log = {}] = logged["logs"] as JsonRecord[];
    assert.deepEqual([log["logIndex"], log["transactionIndex"]], ["0x1", "0x1"]);
    assert.equal(await ask("eth_getTransactionReceipt", UNKNOWN_HASH), null);
    const genesis = (await ask("eth_getBlockByNumber", "0x0", false)) as JsonRecord;
    const [legacy] = genesis["transactions"] as string[];
    assert.equal((await receipt(legacy ?? ""))["gasUsed"], "0x0");
  });

  it("call contracts, and say why a call failed", async () => {
    const call = (name: keyof typeof CONTRACTS): JsonRecord => ({ to: hexOf(CONTRACTS[name]) });
    assert.equal(await ask("eth_call", call("reader"), "latest"), word(42n));
    assert.equal(await ask("eth_call", call("reader"), "earliest"), word(42n));
    assert.equal(
      await ask("eth_call", { ...call("reader"), from: hexOf(BOB), gas: "0x7530" }),
      word(42n),
    );
    const { error } = await node.request("/standard", "eth_call", [call("reverter"), "latest"]);
    assert.deepEqual(error, {
      code: 3,
      message: "execution reverted: user error",
      data: REVERT_DATA,
    });
    assert.deepEqual(await fail("eth_call", call("thrower")), [-32000, "invalid opcode"]);
    assert.deepEqual(await fail("eth_call", { ...call("spinner"), gas: "0x7530" }), [
      -32000,
      "out of gas",
    ]);
    const [code, message] = await fail("eth_call", { to: hexOf(BOB), value: "0x1" });
    assert.equal(code, -32000);
    assert.match(message, /insufficient funds/);
    const [low, text] = await fail("eth_call", { to: hexOf(BOB), gas: "0x1" });
    assert.equal(low, -32000);
    assert.match(text, /intrinsic gas too low/);
  });

  it("estimate gas that suffices, and refuse what cannot succeed", async () => {
    assert.equal(await ask("eth_estimateGas", { to: hexOf(BOB) }), "0x5208");
    const create = { data: "0x60015ff3" };
    const created = BigInt((await ask("eth_estimateGas", create, "latest")) as string);
    assert.ok(created > 53_000n && created < 60_000n, `${created}`);
    const reverter = { to: hexOf(CONTRACTS.reverter) };
    assert.deepEqual(await fail("eth_estimateGas", reverter), [
      3,
      "execution reverted: user error",
    ]);
    const spinner = { to: hexOf(CONTRACTS.spinner), gas: "0x186a0" };
    const [code, message] = await fail("eth_estimateGas", spinner);
    assert.deepEqual([code, message], [-32000, "gas required exceeds allowance (100000)"]);
  });

  it("give prices of a chain on which gas is free", async () => {
    assert.equal(await ask("eth_gasPrice"), "0x0");
    assert.equal(await ask("eth_maxPriorityFeePerGas"), "0x0");
  });

  it("give the history of fees with weighted rewards", async () => {
    const history = (await ask("eth_feeHistory", "0x2", "0x1", [0, 50, 100])) as JsonRecord;
    assert.equal(history["oldestBlock"], "0x0");
    assert.deepEqual(history["baseFeePerGas"], ["0x0", "0x0", "0x0"]);
    // Tips of block 1 are 0, 3 and 5, each for a third or so of the gas.
    assert.deepEqual(history["reward"], [
      ["0x0", "0x0", "0x0"],
      ["0x0", "0x3", "0x5"],
    ]);
    const [first, second] = history["gasUsedRatio"] as number[];
    assert.equal(first, 0);
    assert.ok(second! > 0.001 && second! < 0.002, `${second}`);
    const decimal = (await ask("eth_feeHistory", 5, "latest", [])) as JsonRecord;
    assert.equal((decimal["gasUsedRatio"] as unknown[]).length, 4, "the chain has four blocks");
    assert.equal("reward" in decimal, false);
    assert.equal((await fail("eth_feeHistory", "0x1", "0x99", []))[0], -32000);
  });

  it("order the tips of a block before they are weighted", async () => {
    const own = await RpcNode.open();
    try {
      await own.send(0, { type: 0, gasPrice: 9n });
      await own.send(1, { type: 0, gasPrice: 2n });
      own.chain.seal();
      const history = (await own.standard(
        "eth_feeHistory",
        "0x1",
        "latest",
        [10, 90],
      )) as JsonRecord;
      assert.deepEqual(history["reward"], [["0x2", "0x9"]]);
    } finally {
      await own.close();
    }
  });

  it("accept a transaction once and give its hash as often as it is sent", async () => {
    const own = await RpcNode.open();
    try {
      const encoded = bytesToHex(signedTransaction(0, {}));
      const first = await own.standard("eth_sendRawTransaction", encoded);
      assert.equal(await own.standard("eth_sendRawTransaction", encoded), first);
      own.chain.seal();
      assert.equal(
        await own.standard("eth_sendRawTransaction", encoded),
        first,
        "when it is final",
      );
    } finally {
      await own.close();
    }
  });

  it("refuse transactions with words that libraries know and a stable code", async () => {
    const send = (encoded: Uint8Array): readonly unknown[] => [bytesToHex(encoded)];
    const cases: readonly (readonly [Uint8Array, number, RegExp, string])[] = [
      [signedTransaction(0, { nonce: 1n }), -32000, /nonce too low/, "TX_NONCE_TOO_LOW"],
      [
        signedTransaction(0, { nonce: 5n, gasLimit: 20_999n }),
        -32000,
        /intrinsic gas too low/,
        "TX_INTRINSIC_GAS_TOO_LOW",
      ],
      [
        signedTransaction(0, { nonce: 5n, value: 2n ** 80n }),
        -32000,
        /insufficient funds/,
        "TX_INSUFFICIENT_BALANCE",
      ],
      [
        signedTransaction(0, { nonce: 5n, chainId: 1n }),
        -32000,
        /invalid chain id/,
        "TX_CHAIN_ID_WRONG",
      ],
      [
        signedTransaction(0, { nonce: 5n, gasLimit: 2n ** 40n }),
        -32000,
        /exceeds block gas limit/,
        "TX_GAS_LIMIT_ABOVE_MAXIMUM",
      ],
      [Uint8Array.of(3, 0xc0), -32000, /transaction type not valid/, "TX_TYPE_BLOB_REFUSED"],
    ];
    for (const [encoded, code, message, reason] of cases) {
      const { error } = await node.request("/", "eth_sendRawTransaction", send(encoded));
      assert.equal(error?.code, code, reason);
      assert.match(error.message, message, reason);
      assert.equal((error.data as JsonRecord)["reason"], reason);
    }
  });

  it("select logs by block, address and topics", async () => {
    const logger = hexOf(CONTRACTS.logger);
    const count = async (filter: JsonRecord): Promise<number> =>
      ((await ask("eth_getLogs", filter)) as unknown[]).length;
    const all = { fromBlock: "earliest", toBlock: "latest" };
    const third = (await ask("eth_getBlockByNumber", "0x3", false)) as JsonRecord;
    const cases: readonly (readonly [JsonRecord, number])[] = [
      [all, 2],
      [{}, 2],
      [{ fromBlock: "0x0", toBlock: "0x2" }, 0],
      [{ blockHash: third["hash"] }, 2],
      [{ ...all, address: logger }, 2],
      [{ ...all, address: [hexOf(BOB), logger] }, 2],
      [{ ...all, address: hexOf(BOB) }, 0],
      [{ ...all, address: [] }, 2],
      [{ ...all, topics: [] }, 2],
      [{ ...all, topics: [word(LOG_TOPIC)] }, 2],
      [{ ...all, topics: [null, word(2n)] }, 1],
      [{ ...all, topics: [null, [word(1n), word(2n)]] }, 2],
      [{ ...all, topics: [[], word(1n)] }, 1],
      [{ ...all, topics: [word(1n)] }, 0],
      [{ ...all, topics: [null, null, null] }, 0],
    ];
    for (const [filter, expected] of cases) {
      assert.equal(await count(filter), expected, JSON.stringify(filter));
    }
    const [log] = (await ask("eth_getLogs", { topics: [null, word(2n)] })) as JsonRecord[];
    const receipt = (await ask("eth_getTransactionReceipt", filled.loggedAgain)) as JsonRecord;
    assert.deepEqual([log], receipt["logs"]);
  });

  it("bound the range and the results of a search for logs", async () => {
    const beyond = await fail("eth_getLogs", { fromBlock: "0x1", toBlock: "0x9" });
    assert.match(beyond[1], /block range extends beyond current head block/);
    assert.equal(beyond[0], -32602);
    assert.equal((await fail("eth_getLogs", { fromBlock: "0x3", toBlock: "0x1" }))[0], -32602);
    assert.equal((await fail("eth_getLogs", { blockHash: UNKNOWN_HASH }))[0], -32000);
    const own = await RpcNode.open({ limits: { logBlocksMax: 3, logResultsMax: 1 } });
    try {
      await own.fill();
      const limited = async (filter: JsonRecord): Promise<number | undefined> =>
        (await own.request("/", "eth_getLogs", [filter])).error?.code;
      assert.equal(await limited({ fromBlock: "0x0", toBlock: "0x2" }), undefined);
      assert.equal(await limited({ fromBlock: "0x0", toBlock: "0x3" }), -32005);
      assert.equal(await limited({ fromBlock: "0x3" }), undefined, "of one block there are all");
      assert.equal(await limited({ fromBlock: "0x3", topics: [null, word(2n)] }), undefined);
    } finally {
      await own.close();
    }
  });

  it("say that history is no longer kept", async () => {
    const own = await RpcNode.open();
    try {
      const { legacy } = await own.fill();
      own.chain.keptFrom = 2n;
      const code = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
        (await own.request("/", method, params)).error?.code;
      assert.equal(await code("eth_getBalance", hexOf(ALICE), "0x1"), 4444);
      assert.equal(await code("eth_call", { to: hexOf(BOB) }, "0x1"), 4444);
      assert.equal(await code("eth_getBlockByNumber", "0x1", true), 4444);
      assert.equal(await code("eth_getTransactionReceipt", legacy), 4444);
      assert.equal(await code("eth_getBalance", hexOf(ALICE), "0x2"), undefined);
    } finally {
      await own.close();
    }
  });

  it("name the block that is not there, and the latest one", async () => {
    for (const [method, ...params] of [
      ["eth_getBalance", hexOf(ALICE), "0x99"],
      ["eth_getCode", hexOf(ALICE), { blockHash: UNKNOWN_HASH }],
      ["eth_getTransactionCount", hexOf(ALICE), "0x99"],
      ["eth_getStorageAt", hexOf(ALICE), "0x0", "0x99"],
      ["eth_call", { to: hexOf(ALICE) }, "0x99"],
      ["eth_estimateGas", { to: hexOf(ALICE) }, "0x99"],
    ] as const) {
      const [code, message] = await fail(method, ...params);
      assert.equal(code, -32000, method);
      assert.match(message, /^header not found: block 0x[0-9a-f]+; the latest is 0x3/, method);
    }
  });
});

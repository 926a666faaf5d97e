/** A client node between a real disk and real links; the replicas are made by hand. */
import assert from "node:assert/strict";
import { rmSync, truncateSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../../src/chain/transaction-sender.ts";
import type { ClientOptions } from "../../../src/client/client-options.ts";
import type { ClientNode } from "../../../src/client/client-node.ts";
import { shownHeightPathOf, statePathOf } from "../../../src/client/client-stores.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { HeightMark } from "../../../src/storage/height-mark.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { JsonText } from "../../../src/rpc/json-text.ts";
import { createMethodTable, type RpcReader } from "../../../src/rpc/methods/method-table.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";
import { until } from "../../support/following-client.ts";
import { ACCOUNT_KEYS, ACCOUNTS, CHAIN_ID, transfer } from "../../support/replica-network.ts";
import { openClient, temporaryDirectory } from "./client-nodes.ts";
import { FinalChain, type FinalBlock } from "./final-chain.ts";
import { ServingNetwork } from "./serving-replicas.ts";

const WRONG = `0x${"77".repeat(32)}` as const;

/** Creates a contract without code, whose constructor logs topic 42. */
function loggingCreation(nonce: number): Uint8Array {
  const transaction = signTransaction(
    {
      type: 0,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      gasPrice: 0n,
      gasLimit: 100_000n,
      to: undefined,
      value: 0n,
      data: Uint8Array.of(0x60, 42, 0x5f, 0x5f, 0xa1, 0x00),
    },
    ACCOUNT_KEYS[0]!,
  );
  return encodeTransaction(transaction);
}

describe("a client node", () => {
  let network: ServingNetwork;
  let directory: ReturnType<typeof temporaryDirectory>;
  let node: ClientNode;
  let failures: unknown[];

  const open = async (more: Partial<ClientOptions> = {}): Promise<void> => {
    ({ node, failures } = await openClient(directory.path, network, more));
  };
  const publishedHeight = (): number => node.status().publishedHeight;
  const isUpTo = (height: number) => (): boolean => publishedHeight() >= height;
  const submit = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const submitted = await node.pending.submitRaw(bytes);
    assert.ok(submitted.ok, submitted.ok ? "" : submitted.error.code);
    return submitted.value;
  };
  const hasAll = (bytes: Uint8Array) => (): boolean =>
    network.replicas.every(({ submitted }) => submitted.has(bytesToHash(keccak256(bytes))));

  beforeEach(async () => {
    directory = temporaryDirectory();
    network = await ServingNetwork.open(new FinalChain());
  });
  afterEach(async () => {
    await node.close();
    await network.close();
    directory.remove();
  });

  it("is ready on a new network, and reads block 0 in the shapes of the RPC", async () => {
    await open();
    assert.equal(node.isReady, false);
    await node.whenReady();
    assert.equal(node.isReady, true);
    const reads: RpcReader = node.reads;
    const genesis = await reads.latestBlock();
    assert.equal(genesis.header.number, 0n);
    assert.equal((await reads.transactionsOf(genesis))?.length, 1);
    assert.equal((await reads.receiptsOf(genesis))?.[0]?.succeeded, true);
    assert.equal(node.status().upCount, 4);
  });

  it("sends what it promised to all replicas, and publishes the block with its receipts", async () => {
    await open();
    const published: bigint[] = [];
    node.on("blockPublished", ({ header }) => published.push(header.number));
    await node.whenReady();
    const first = transfer(0, 0, 5n);
    const hash = await submit(first);
    assert.deepEqual(hash, keccak256(first));
    assert.deepEqual(await submit(first), hash, "a resend is idempotent");
    assert.equal(node.reads.transactionStatus(hash)?.kind, "pending");
    assert.equal(node.reads.pendingNonce(ACCOUNTS[0]!), 1n);
    await until(hasAll(first), "all replicas have it");
    network.orderSubmitted();
    await until(isUpTo(1), "its block is published");
    assert.deepEqual(published, [1n]);
    assert.deepEqual(node.reads.transactionStatus(hash), { kind: "final", number: 1n, index: 0 });
    const found = node.reads.findTransaction(hash)!;
    assert.equal(found.block.header.number, 1n);
    assert.equal(node.reads.receiptsOf(found.block)?.[0]?.succeeded, true);
    assert.deepEqual(node.reads.blockByHash(found.block.hash)?.hash, found.block.hash);
    assert.deepEqual(await submit(first), hash, "a final one gives its hash again");
    assert.equal(node.status().openTransactions, 0);
  });

  it("reads the state of every block, also of old ones, and calls on them", async () => {
    await open();
    for (let nonce = 0; nonce < 3; nonce++) network.order([transfer(0, nonce, 10n)]);
    await until(isUpTo(3), "three blocks");
    const [sender, receiver] = [ACCOUNTS[0]!, ACCOUNTS[1]!];
    for (const number of [0n, 1n, 2n, 3n]) {
      const block = node.reads.blockByNumber(number)!;
      const state = node.reads.stateAt(block)!;
      assert.equal(state.nonce(sender), number, `block ${number}`);
      assert.equal(state.balance(receiver), 10n ** 18n + 10n * number, `block ${number}`);
      const transaction = {
        ...({ type: 0, chainId: undefined, nonce: 0n, gasPrice: 0n, gasLimit: 50_000n } as const),
        ...{ to: receiver, value: 10n ** 18n + 10n * number, data: new Uint8Array(0) },
      };
      const afford = await node.reads.call({ sender: receiver, transaction }, block);
      assert.ok(afford.ok, `block ${number}`);
      const more = { ...transaction, value: transaction.value + 1n };
      const beyond = await node.reads.call({ sender: receiver, transaction: more }, block);
      assert.ok(!beyond.ok, "one coin more than it had at that block");
      const gas = await node.reads.estimateGas({ sender: receiver, transaction }, block);
      assert.deepEqual(gas, { ok: true, value: 21_000n });
    }
    assert.equal(node.reads.blockByNumber(4n), undefined);
  });

  it("answers the methods of ethrpc on blocks with logs", async () => {
    await open();
    const creation = loggingCreation(0);
    network.order([creation, transfer(1, 0)]);
    network.order([transfer(1, 1)]);
    await until(isUpTo(2), "two blocks");
    const methods = createMethodTable(node.reads, node.pending);
    const context = { dialect: "standard", limits: DEFAULT_RPC_LIMITS } as const;
    const ask = async (name: string, ...params: unknown[]): Promise<Record<string, unknown>> => {
      const result = await methods.get(name)!.run(params, context);
      const plain: unknown = result instanceof JsonText ? JSON.parse(result.text) : result;
      return plain as Record<string, unknown>;
    };
    const hash = bytesToHash(keccak256(creation));
    const topic = `0x${"2a".padStart(64, "0")}`;
    const [log, ...more] = (await ask("eth_getLogs", {
      fromBlock: "0x0",
      toBlock: "latest",
      topics: [topic],
    })) as unknown as Record<string, unknown>[];
    assert.deepEqual(more, []);
    assert.equal(log!["transactionHash"], hash);
    assert.deepEqual(log!["topics"], [topic]);
    const receipt = await ask("eth_getTransactionReceipt", hash);
    assert.equal(receipt["status"], "0x1");
    assert.equal(receipt["blockNumber"], "0x1");
    assert.equal(receipt["transactionIndex"], "0x0");
    const block = await ask("eth_getBlockByNumber", "latest", true);
    assert.equal(block["number"], "0x2");
    assert.equal((block["transactions"] as unknown[]).length, 1);
  });

  it("is ready when it is where it was, though replicas say that less is final", async () => {
    const before = await HeightMark.open(shownHeightPathOf({ dataPath: directory.path }));
    before.raise(3);
    await before.close();
    for (const nonce of [0, 1]) network.order([transfer(0, nonce)]);
    await open();
    await until(isUpTo(2), "all there is");
    const reported = (): number =>
      node.status().replicas.filter(({ report }) => report?.finalHeight === 2).length;
    await until(() => reported() === network.replicas.length, "all say so");
    assert.deepEqual([node.isReady, node.status().lag], [false, 1]);
    network.order([transfer(0, 2)]);
    await node.whenReady();
    assert.deepEqual([publishedHeight(), node.status().lag], [3, 0]);
  });

  it("shows no block before it is durable that it was shown", async (test) => {
    await open();
    await node.whenReady();
    const durable = test.mock.getter(HeightMark.prototype, "durableHeight", () => 0);
    network.order([transfer(0, 0)]);
    await until(() => node.status().finalHeight === 1, "the block is final");
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(publishedHeight(), 0);
    durable.mock.restore();
    await until(isUpTo(1), "it is durable");
  });

  it("takes blocks without a certificate when a later one proves them, and not before", async () => {
    await open();
    await node.whenReady();
    network.order([transfer(0, 0)], "none");
    network.order([transfer(0, 1)], "none");
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(node.status().finalHeight, 0);
    network.order([transfer(0, 2)], "slow");
    await until(isUpTo(3), "the third proves the first two");
  });

  it("refuses a wrong certificate, and gets the block from a replica that does not lie", async () => {
    const forged = (_: number, honest: FinalBlock): FinalBlock => {
      const other = network.chain.network.blockOf(honest.block.body, {
        ...honest.block.header,
        timestampMs: honest.block.header.timestampMs + 1,
      });
      return { block: other, certificate: { ...honest.certificate!, blockHash: other.hash } };
    };
    await open();
    await node.whenReady();
    const byzantine = node.status().replicas.find(({ isFollowed }) => isFollowed)!.replica;
    network.replicas[byzantine]!.manner = { blockAt: forged };
    network.order([transfer(0, 0)]);
    await until(isUpTo(1), "the honest block is published");
    await until(
      () => node.status().replicas[byzantine]!.isDistrusted,
      "the Byzantine replica is known",
    );
    assert.equal(node.status().replicas[byzantine]!.isFollowed, false);
    assert.deepEqual(failures, []);
  });

  it("is not deceived by a forged block below an honest certificate", async () => {
    await open();
    await node.whenReady();
    const byzantine = node.status().replicas.find(({ isFollowed }) => isFollowed)!.replica;
    network.replicas[byzantine]!.manner = {
      blockAt: (height, honest) => {
        if (height !== 1) return honest;
        const { header } = honest.block;
        const body = { ...honest.block.body, transactions: [] };
        const payloadHash = network.chain.network.ports[0]!.hashBody(body);
        const changes = { ...header, payloadHash, txCount: 0, payloadSize: 0 };
        const block = network.chain.network.blockOf(body, changes);
        return { block, certificate: undefined };
      },
    };
    network.order([transfer(0, 0)], "none");
    network.order([transfer(0, 1)]);
    await until(isUpTo(2), "the honest blocks are published");
    assert.equal(node.reads.latestBlock().header.number, 2n);
    await until(
      () => node.status().replicas[byzantine]!.isDistrusted,
      "the Byzantine replica is known",
    );
    assert.deepEqual(failures, []);
  });

  it("publishes only what f+1 replicas signed, whatever one of them says", async () => {
    await open();
    await node.whenReady();
    for (const replica of network.replicas) replica.manner = { isSilentOnResults: true };
    network.order([transfer(0, 0)]);
    await until(() => node.status().finalHeight === 1, "the block is final");
    await until(() => node.status().replicas.every(({ isFollowed }) => isFollowed), "it asks all");
    network.replicas[0]!.manner = { isSilentOnResults: true, resultAt: () => WRONG };
    network.replicas[0]!.vote(1);
    network.replicas[1]!.vote(1);
    const unsigned = { ...network.chain.vote(3, 1), signature: new Uint8Array(64) };
    network.replicas[3]!.say({ kind: "execVote", vote: unsigned });
    await until(() => node.status().replicas[3]!.isDistrusted, "a vote must be signed");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(publishedHeight(), 0, "one vote each is not enough");
    assert.equal(node.reads.latestBlock().header.number, 0n);
    network.replicas[2]!.vote(1);
    await until(isUpTo(1), "two equal votes are");
    await until(() => node.status().replicas[0]!.isDistrusted, "who signed another is left");
    assert.deepEqual(failures, []);
  });

  it("stops when f+1 replicas signed another result than its own", async () => {
    await open();
    await node.whenReady();
    network.order([transfer(0, 0)]);
    await until(isUpTo(1), "all is well");
    for (const replica of network.replicas) {
      replica.manner = { isSilentOnResults: true, resultAt: () => WRONG };
    }
    network.order([transfer(0, 1)]);
    await until(() => node.status().finalHeight === 2, "the block is final");
    // Longer than the state waits to be written: it must wait for the votes all the same.
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const replica of network.replicas) replica.vote(2);
    await until(() => failures.length === 1, "it stops");
    const [failure] = failures;
    assert.ok(failure instanceof CodedError);
    assert.equal(failure.code, "EXECUTION_DIVERGED");
    assert.equal(publishedHeight(), 1, "the block is not shown to anybody");
    assert.equal(node.isReady, false);
    const refused = await node.pending.submitRaw(transfer(0, 2));
    assert.deepEqual(refused, { ok: false, error: { code: "EXECUTION_DIVERGED" } });
    await node.close();
    for (const replica of network.replicas) replica.manner = {};
    await open();
    assert.equal(publishedHeight(), 1, "nothing wrong reached the disk");
    await until(isUpTo(2), "with right results it goes on");
  });

  it("writes no state that f+1 replicas have not signed", async () => {
    await open();
    await node.whenReady();
    network.order([transfer(0, 0)]);
    await until(isUpTo(1), "the first block is signed");
    for (const replica of network.replicas) replica.manner = { isSilentOnResults: true };
    network.order([transfer(0, 1)]);
    await until(() => node.status().finalHeight === 2, "the second block is final");
    // Longer than the state waits to be written.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await node.close();
    const state = await StateStore.open(statePathOf({ dataPath: directory.path }));
    const { height } = state;
    await state.close();
    assert.ok((height ?? 0) <= 1, `the state of height ${height} is on the disk`);
  });

  it("leaves replicas that stall for others", async () => {
    await open();
    await node.whenReady();
    const followed = node.status().replicas.filter(({ isFollowed }) => isFollowed);
    assert.equal(followed.length, 3, "2f+1 are enough while all is well");
    for (const { replica } of followed.slice(0, 2)) {
      network.replicas[replica]!.manner = { isStalling: true };
    }
    for (let nonce = 0; nonce < 3; nonce++) network.order([transfer(0, nonce)]);
    await until(isUpTo(3), "the others are asked");
  });

  it("goes on where it was after a restart, and is not told what it knows", async () => {
    await open();
    for (let nonce = 0; nonce < 5; nonce++) network.order([transfer(0, nonce)]);
    await until(isUpTo(5), "five blocks");
    await node.close();
    network.chain.append([transfer(0, 5)]);
    for (const { follows } of network.replicas) follows.length = 0;
    await open();
    assert.equal(publishedHeight(), 5);
    assert.equal(node.reads.stateAt(node.reads.blockByNumber(2n)!)!.nonce(ACCOUNTS[0]!), 2n);
    await until(isUpTo(6), "the sixth");
    const heights = network.replicas.flatMap(({ follows }) => follows);
    assert.ok(heights.every((height) => height >= 6));
  });

  for (const part of ["state", "blocks"]) {
    it(`makes a damaged store of ${part} again by itself`, async () => {
      await open();
      for (let nonce = 0; nonce < 4; nonce++) network.order([transfer(0, nonce)]);
      await until(isUpTo(4), "four blocks");
      const latest = node.reads.latestBlock().hash;
      await node.close();
      truncateSync(path.join(directory.path, part, "data.mdb"), 10_000);
      await open();
      await until(isUpTo(4), "all is there again");
      assert.deepEqual(node.reads.latestBlock().hash, latest);
      assert.equal(node.reads.stateAt(node.reads.blockByNumber(2n)!)!.nonce(ACCOUNTS[0]!), 2n);
      assert.deepEqual(failures, []);
    });
  }

  it("rebuilds the state from its own blocks, without any replica", async () => {
    await open();
    for (let nonce = 0; nonce < 4; nonce++) network.order([transfer(0, nonce)]);
    await until(isUpTo(4), "four blocks");
    await node.close();
    rmSync(path.join(directory.path, "state"), { recursive: true });
    ({ node, failures } = await openClient(directory.path, undefined));
    await until(isUpTo(4), "executed again");
    assert.equal(node.isReady, false, "alone it serves reads and is not ready");
  });

  it("catches up with a long chain", async () => {
    for (let nonce = 0; nonce < 600; nonce++) {
      network.chain.append([transfer(0, nonce)], nonce % 3 === 0 ? "fast" : "none");
    }
    network.chain.append([transfer(1, 0)]);
    await open();
    await node.whenReady();
    assert.equal(publishedHeight(), 601);
    assert.equal(node.reads.latestBlock().header.number, 601n);
    assert.equal(node.reads.syncProgress(), undefined);
  });

  it("catches up although every link breaks on the way", async () => {
    for (let nonce = 0; nonce < 600; nonce++) network.chain.append([transfer(0, nonce)]);
    await open();
    await until(isUpTo(1), "it has begun");
    assert.ok(publishedHeight() < 300, "and is held back by what it has yet to execute");
    const { endpoints } = network;
    await network.close();
    network = await ServingNetwork.open(
      network.chain,
      endpoints.map(({ port }) => port),
    );
    await until(isUpTo(600), "all");
  });
});

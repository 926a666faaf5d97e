import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { recoverTransaction, signTransaction } from "../../../src/chain/transaction-sender.ts";
import { nameOf, PoolWorld, transactionOf } from "./pool-transactions.ts";

const FEES = { priceMin: 10n, replacementBumpPercent: 10n };

describe("transaction pool", () => {
  it("takes signed transactions as they were recovered", () => {
    const unsigned = { ...transactionOf({ nonce: 0 }).transaction, gasLimit: 21_000n };
    const signed = signTransaction(unsigned, new Uint8Array(32).fill(7));
    const recovered = recoverTransaction(encodeTransaction(signed));
    assert.ok(recovered.ok);
    const { pool } = new PoolWorld();
    const added = pool.add(recovered.value, { source: "rpc", nowMs: 0 });
    assert.ok(added.ok);
    assert.deepEqual(added.value.promoted, [recovered.value]);
    assert.equal(pool.get(recovered.value.hash), recovered.value);
    assert.equal(pool.pendingNonceOf(recovered.value.sender), 1n);
  });

  it("queues what comes before its time and promotes it in order when the gap closes", () => {
    const world = new PoolWorld();
    for (const nonce of [2, 1, 4]) assert.equal(world.add({ nonce }), "ok");
    assert.deepEqual(world.executables(), []);
    assert.equal(world.pool.pendingNonceOf(1n), 0n, "nonces behind a gap do not count");
    const added = world.pool.add(transactionOf({ nonce: 0 }), { source: "rpc", nowMs: 0 });
    assert.ok(added.ok);
    assert.deepEqual(added.value.promoted.map(nameOf), ["1:0", "1:1", "1:2"]);
    assert.equal(world.pool.pendingNonceOf(1n), 3n);
    const { executable, queued, bytes, senders } = world.pool.status();
    assert.deepEqual([executable, queued, bytes, senders], [3, 1, 400, 1]);
    const content = world.pool.contentOf(1n);
    assert.deepEqual(content.executable.map(nameOf), ["1:0", "1:1", "1:2"]);
    assert.deepEqual(content.queued.map(nameOf), ["1:4"]);
    assert.deepEqual(
      [...world.pool.content()].map(({ sender }) => sender),
      [1n],
    );
  });

  it("serves first what came first, whichever sender it has, with every sender's nonces in order", () => {
    const world = new PoolWorld();
    world.add({ sender: 1, nonce: 0 });
    world.add({ sender: 2, nonce: 1 });
    world.add({ sender: 3, nonce: 0 });
    world.add({ sender: 2, nonce: 0 });
    world.add({ sender: 1, nonce: 1 });
    assert.deepEqual(world.executables(), ["1:0", "3:0", "2:0", "2:1", "1:1"]);
  });

  it("where gas is free the first of two equal nonces wins, whatever the second offers", () => {
    const world = new PoolWorld();
    world.add({ nonce: 0, value: 1 });
    assert.equal(world.add({ nonce: 0, value: 1 }), "TX_ALREADY_KNOWN");
    assert.equal(world.add({ nonce: 0, value: 2 }), "TX_NONCE_TAKEN");
    assert.equal(world.add({ nonce: 0, value: 1, price: 1_000 }), "TX_NONCE_TAKEN");
  });

  it("with fees a replacement offers ten percent more, and keeps the old one's turn", () => {
    const world = new PoolWorld({ fees: FEES });
    assert.equal(world.add({ price: 9 }), "TX_PRICE_TOO_LOW");
    assert.equal(world.add({ sender: 1, price: 101 }), "ok");
    assert.equal(world.add({ sender: 2, price: 100 }), "ok");
    assert.equal(world.add({ sender: 1, price: 111 }), "TX_REPLACEMENT_UNDERPRICED");
    const better = transactionOf({ sender: 1, price: 112 });
    const added = world.pool.add(better, { source: "other", nowMs: 1 });
    assert.ok(added.ok);
    assert.equal(added.value.replaced?.transaction.nonce, 0n);
    assert.deepEqual(added.value.promoted, []);
    assert.equal(world.pool.get(transactionOf({ sender: 1, price: 101 }).hash), undefined);
    assert.deepEqual([...world.pool.executables()][0], better);
    assert.deepEqual(world.executables(), ["1:0", "2:0"]);
  });

  it("a price of nothing is outbid by something only", () => {
    const world = new PoolWorld({ fees: { priceMin: 0n, replacementBumpPercent: 10n } });
    world.add({ salt: 1 });
    assert.equal(world.add({ salt: 2 }), "TX_REPLACEMENT_UNDERPRICED");
    assert.equal(world.add({ price: 1 }), "ok");
  });

  it("a replacement with a higher cap but the same tip is refused", () => {
    const { pool } = new PoolWorld({ fees: FEES });
    const arrival = { source: "rpc", nowMs: 0 };
    const withFees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint, salt: number) => {
      const plain = transactionOf({ salt });
      const { r, s, yParity, nonce, gasLimit, to, value, data } = plain.transaction;
      const shared = { r, s, yParity, nonce, gasLimit, to, value, data, chainId: 1n };
      const fees = { maxFeePerGas, maxPriorityFeePerGas, accessList: [] };
      return { ...plain, transaction: { ...shared, ...fees, type: 2 as const } };
    };
    assert.ok(pool.add(withFees(100n, 10n, 1), arrival).ok);
    const refused = pool.add(withFees(200n, 10n, 2), arrival);
    assert.deepEqual(refused, {
      ok: false,
      error: { code: "TX_REPLACEMENT_UNDERPRICED", limit: 11n },
    });
    assert.ok(pool.add(withFees(110n, 11n, 3), arrival).ok);
  });

  it("each limit refuses with its own code, and nothing that was accepted goes", () => {
    const cases = [
      [{ transactionsMax: 2 }, { sender: 3 }, "TX_POOL_FULL"],
      [{ bytesMax: 299 }, { sender: 3 }, "TX_POOL_FULL"],
      [{ sourceTransactionsMax: 2 }, { sender: 3 }, "TX_SOURCE_LIMIT"],
      [{ sourceBytesMax: 299 }, { sender: 3 }, "TX_SOURCE_LIMIT"],
      [{ senderTransactionsMax: 1 }, { sender: 2, nonce: 1 }, "TX_SENDER_LIMIT"],
      [{ senderBytesMax: 199 }, { sender: 2, nonce: 1 }, "TX_SENDER_LIMIT"],
      [{ nonceWindow: 5 }, { sender: 3, nonce: 5 }, "TX_NONCE_GAP_TOO_LARGE"],
      [{ queuedMax: 0 }, { sender: 3, nonce: 1 }, "TX_QUEUE_FULL"],
      [{ transactionSizeMax: 100 }, { sender: 3, size: 101 }, "TX_SIZE_TOO_LARGE"],
      [{}, { sender: 3, value: 1_000_001 }, "TX_INSUFFICIENT_BALANCE"],
    ] as const;
    for (const [options, wish, code] of cases) {
      const world = new PoolWorld(options);
      assert.equal(world.add({ sender: 1 }), "ok");
      assert.equal(world.add({ sender: 2 }), "ok");
      assert.equal(world.add(wish), code, JSON.stringify(options));
      assert.deepEqual(world.executables(), ["1:0", "2:0"], code);
      assert.equal(world.add(wish, "rpc", 0, true), "ok", `${code}: a promise is kept`);
    }
  });

  it("one source cannot use up what is left for the others", () => {
    const world = new PoolWorld({ transactionsMax: 100, sourceTransactionsMax: 50 });
    let sender = 0;
    while (world.add({ sender: sender++ }, "greedy") === "ok");
    assert.equal(world.pool.status().executable, 50);
    assert.equal(world.add({ sender: 1_000 }, "modest"), "ok");
  });

  it("the queue's limit does not stop a transaction that closes a gap", () => {
    const world = new PoolWorld({ queuedMax: 1 });
    assert.equal(world.add({ nonce: 1 }), "ok");
    assert.equal(world.add({ nonce: 2 }), "TX_QUEUE_FULL");
    assert.equal(world.add({ nonce: 0 }), "ok");
    assert.equal(world.add({ nonce: 2 }), "ok");
  });

  it("a block takes out what it included and what it made impossible, and tells them apart", () => {
    const world = new PoolWorld();
    for (const nonce of [0, 1, 2, 3]) world.add({ nonce });
    const outcome = world.pool.onBlock({
      accounts: [{ address: 1n, nonce: 2n, balance: 1_000_000n }],
      included: [transactionOf({ nonce: 0 }).hash, transactionOf({ nonce: 1, salt: 9 }).hash],
    });
    assert.deepEqual(outcome.included.map(nameOf), ["1:0"]);
    assert.deepEqual(outcome.stale.map(nameOf), ["1:1"], "another one used its nonce");
    assert.deepEqual(world.executables(), ["1:2", "1:3"]);
    assert.equal(world.add({ nonce: 1 }), "TX_NONCE_TOO_LOW");
  });

  it("a block may close a gap from the other side", () => {
    const world = new PoolWorld();
    for (const nonce of [3, 4]) world.add({ nonce });
    const accounts = [{ address: 1n, nonce: 3n, balance: 1n }];
    const outcome = world.pool.onBlock({ accounts, included: [] });
    assert.deepEqual(outcome.promoted.map(nameOf), ["1:3", "1:4"]);
  });

  it("what the balance does not pay for waits; it is neither ordered nor lost", () => {
    const world = new PoolWorld({}, 100n);
    for (const nonce of [0, 1, 2]) assert.equal(world.add({ nonce, value: 40 }), "ok");
    assert.deepEqual(world.executables(), ["1:0", "1:1"]);
    assert.equal(world.pool.pendingNonceOf(1n), 3n);
    const poorer = world.pool.onBlock({
      accounts: [{ address: 1n, nonce: 0n, balance: 40n }],
      included: [],
    });
    assert.deepEqual(poorer.demoted.map(nameOf), ["1:1"]);
    const richer = world.pool.onBlock({
      accounts: [{ address: 1n, nonce: 1n, balance: 80n }],
      included: [transactionOf({ nonce: 0, value: 40 }).hash],
    });
    assert.deepEqual(richer.promoted.map(nameOf), ["1:1", "1:2"]);
  });

  it("a transaction refused for good leaves, and what follows it waits for its nonce", () => {
    const world = new PoolWorld();
    for (const nonce of [0, 1, 2]) world.add({ nonce });
    const moved = world.pool.remove(transactionOf({ nonce: 1 }).hash);
    assert.deepEqual(moved?.demoted.map(nameOf), ["1:2"]);
    assert.deepEqual(world.executables(), ["1:0"]);
    assert.equal(world.pool.remove(transactionOf({ nonce: 1 }).hash), undefined);
    assert.equal(world.add({ nonce: 1, salt: 1 }), "ok");
    assert.deepEqual(world.executables(), ["1:0", "1:1", "1:2"]);
  });

  it("expires by arrival, also what was read back from the journal with its old time", () => {
    const world = new PoolWorld({ lifetimeMs: 100 });
    world.add({ nonce: 0 }, "journal", 5, true);
    world.add({ nonce: 1 }, "rpc", 50);
    world.add({ nonce: 2 }, "rpc", 20); // a clock that went back
    assert.deepEqual(world.pool.expire(104).expired, []);
    const first = world.pool.expire(105);
    assert.deepEqual(first.expired.map(nameOf), ["1:0"]);
    assert.deepEqual(first.demoted.map(nameOf), ["1:1", "1:2"]);
    assert.deepEqual(world.pool.expire(149).expired, []);
    const last = world.pool.expire(150);
    assert.deepEqual(last.expired.map(nameOf), ["1:1", "1:2"]);
    assert.deepEqual(last.demoted, []);
    assert.deepEqual(world.pool.status(), {
      ...{ executable: 0, queued: 0, bytes: 0, senders: 0 },
      isFull: false,
    });
  });

  it("a clock that goes back makes nothing expire early", () => {
    const world = new PoolWorld({ lifetimeMs: 100 });
    world.add({ nonce: 0 }, "rpc", 50);
    world.add({ nonce: 1 }, "rpc", 20);
    world.pool.remove(transactionOf({ nonce: 0 }).hash);
    assert.deepEqual(world.pool.expire(149).expired, []);
    assert.equal(world.pool.expire(150).expired.length, 1);
  });
});

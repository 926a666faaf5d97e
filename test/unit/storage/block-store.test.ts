import assert from "node:assert/strict";
import path from "node:path";
import { describe, it } from "node:test";
import { sha256 } from "../../../src/crypto/sha256.ts";
import { BlockStore } from "../../../src/storage/block-store.ts";
import { openEnvironmentReader } from "../../../src/storage/lmdb-environment.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Nothing is written until the test asks for it. */
const MANUAL = { freeBytesMin: 0, flushDelayMs: 3_600_000 };

function body(height: number, size = 10): Uint8Array {
  return new Uint8Array(size).fill(height % 251);
}

function hash(text: string): Uint8Array {
  return sha256(new TextEncoder().encode(text));
}

function indexesOf(height: number): { blockHash: Uint8Array; transactionHashes: Uint8Array[] } {
  const transactionHashes = [0, 1, 2].map((index) => hash(`tx ${height} ${index}`));
  return { blockHash: hash(`block ${height}`), transactionHashes };
}

function fill(store: BlockStore, from: number, to: number): void {
  for (let height = from; height <= to; height++) {
    const certificate = height % 5 === 0 ? { certificate: body(height + 1) } : {};
    store.append(height, { block: body(height), ...certificate });
    store.attach(height, { result: hash(`result ${height}`) }, indexesOf(height));
  }
}

function assertHolds(store: BlockStore, from: number, to: number): void {
  for (let height = from; height <= to; height++) {
    const message = `height ${height}`;
    assert.deepEqual([...(store.get(height, "block") ?? [])], [...body(height)], message);
    assert.deepEqual(
      [...(store.get(height, "result") ?? [])],
      [...hash(`result ${height}`)],
      message,
    );
    const hasCertificate = store.get(height, "certificate") !== undefined;
    assert.equal(hasCertificate, height % 5 === 0, message);
    const { blockHash, transactionHashes } = indexesOf(height);
    assert.equal(store.heightOf(blockHash), height, message);
    transactionHashes.forEach((each, index) => {
      assert.deepEqual(store.positionOf(each), { height, index }, message);
    });
  }
}

describe("the block store", () => {
  it("gives back blocks before, while and after they are written", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await BlockStore.open(directory, MANUAL);
    assert.equal(store.latestHeight, undefined);
    fill(store, 1, 50);
    assertHolds(store, 1, 50);
    assert.equal(store.durableHeight, undefined);
    const flushed = store.flush();
    fill(store, 51, 60);
    assertHolds(store, 1, 60);
    await flushed;
    assertHolds(store, 1, 60);
    assert.equal(store.durableHeight, 50);
    await store.close();
    const again = await BlockStore.open(directory, MANUAL);
    assert.deepEqual([again.oldestHeight, again.latestHeight, again.durableHeight], [1, 60, 60]);
    assertHolds(again, 1, 60);
    assert.equal(again.get(61, "block"), undefined);
    assert.equal(again.heightOf(hash("unknown")), undefined);
    await again.close();
  });

  it("writes by itself after a while", async (test) => {
    const options = { freeBytesMin: 0, flushDelayMs: 5 };
    const store = await BlockStore.open(temporaryDirectory(test), options);
    fill(store, 1, 3);
    const deadlineMs = performance.now() + 5_000;
    while (store.durableHeight !== 3 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(store.durableHeight, 3);
    assert.equal(store.pendingBytes, 0);
    await store.close();
  });

  it("loses without a close only what was not durable, and takes it again", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await BlockStore.open(directory, MANUAL);
    fill(store, 7, 20);
    await store.flush();
    fill(store, 21, 30);
    const reader = openEnvironmentReader(directory);
    assert.equal(reader.table("block").getKeysCount(), 14, "what a crash would leave");
    await reader.close();
    fill(store, 15, 40);
    assertHolds(store, 7, 40);
    await store.close();
  });

  it("refuses a gap", async (test) => {
    const store = await BlockStore.open(temporaryDirectory(test), MANUAL);
    fill(store, 100, 101);
    assert.throws(() => store.append(103, { block: body(103) }), { name: "InvariantError" });
    assert.throws(() => store.attach(102, { result: body(1) }), { name: "InvariantError" });
    await store.close();
  });

  it("reads a range up to a limit of bytes, but at least one block", async (test) => {
    const store = await BlockStore.open(temporaryDirectory(test), MANUAL);
    for (let height = 1; height <= 20; height++) store.append(height, { block: body(height, 100) });
    store.attach(3, { certificate: body(3, 50) });
    await store.flush();
    const heights = (from: number, to: number, bytesMax: number): number[] =>
      [...store.range(from, to, bytesMax)].map(({ height }) => height);
    assert.deepEqual(heights(2, 4, 1e6), [2, 3, 4]);
    assert.deepEqual(heights(2, 20, 350), [2, 3, 4]);
    assert.deepEqual(heights(2, 20, 349), [2, 3]);
    assert.deepEqual(heights(2, 20, 1), [2]);
    assert.deepEqual(heights(18, 30, 1e6), [18, 19, 20]);
    assert.deepEqual(heights(21, 30, 1e6), []);
    const [, second] = store.range(2, 3, 1e6);
    assert.equal(second?.certificate?.length, 50);
    await store.close();
  });

  it("prunes blocks with everything that belongs to them", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await BlockStore.open(directory, MANUAL);
    fill(store, 1, 2_500);
    await store.pruneBelow(2_400);
    assert.equal(store.oldestHeight, 2_400);
    assert.equal(store.get(2_399, "result"), undefined);
    assert.equal(store.heightOf(indexesOf(5).blockHash), undefined);
    assert.equal(store.positionOf(indexesOf(2_399).transactionHashes[1]!), undefined);
    assertHolds(store, 2_400, 2_500);
    await store.pruneBelow(1_000_000);
    assert.deepEqual([store.oldestHeight, store.latestHeight], [2_500, 2_500]);
    await store.close();
    const again = await BlockStore.open(directory, MANUAL);
    assertHolds(again, 2_500, 2_500);
    await again.close();
  });

  it("forgets everything and begins at another height", async (test) => {
    const directory = temporaryDirectory(test);
    const store = await BlockStore.open(directory, MANUAL);
    fill(store, 1, 20);
    await store.clear();
    assert.deepEqual([store.oldestHeight, store.latestHeight], [undefined, undefined]);
    assert.equal(store.heightOf(indexesOf(5).blockHash), undefined);
    fill(store, 500, 510);
    await store.close();
    const again = await BlockStore.open(directory, MANUAL);
    assertHolds(again, 500, 510);
    assert.equal(again.oldestHeight, 500);
    await again.close();
  });

  it("refuses a store with a block missing in the middle", async (test) => {
    const directory = path.join(temporaryDirectory(test), "blocks");
    const store = await BlockStore.open(directory, MANUAL);
    fill(store, 1, 10);
    await store.close();
    const environment = openEnvironmentReader(directory);
    environment.table("block").removeSync(Uint8Array.of(0, 0, 0, 0, 0, 5));
    await environment.close();
    await assert.rejects(BlockStore.open(directory, MANUAL), { code: "BLOCK_STORE_DAMAGED" });
  });

  it("refuses more when too much waits", async (test) => {
    const options = { ...MANUAL, pendingBytesMax: 1_000 };
    const store = await BlockStore.open(temporaryDirectory(test), options);
    store.append(1, { block: body(1, 1_001) });
    assert.throws(() => store.append(2, { block: body(2) }), { code: "DISK_FULL" });
    await store.flush();
    store.append(2, { block: body(2) });
    await store.close();
  });
});

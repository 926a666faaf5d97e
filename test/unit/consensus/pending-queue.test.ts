import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PendingQueue } from "../../../src/consensus/agreement/pending-queue.ts";

const TRANSACTION = {
  id: `0x${"ab".repeat(32)}`,
  gas: 21_000,
  bytes: Uint8Array.of(1),
} as const;

describe("transactions that wait", () => {
  it("a late copy of one that is final is known, and not ordered again", () => {
    const queue = new PendingQueue(10);
    assert.equal(queue.add(TRANSACTION, 0), "added");
    queue.settle([TRANSACTION.id]);
    assert.equal(queue.size, 0);
    assert.equal(queue.add(TRANSACTION, 1), "known");
  });

  it("one that was ordered too early may come again once it is withdrawn", () => {
    const queue = new PendingQueue(10);
    queue.settle([TRANSACTION.id]);
    queue.withdraw(TRANSACTION.id);
    assert.equal(queue.add(TRANSACTION, 1), "added");
    assert.equal(queue.nextToForward()?.transaction.id, TRANSACTION.id);
  });
});

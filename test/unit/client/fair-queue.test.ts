import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FairQueue } from "../../../src/client/reads/fair-queue.ts";

const ROOMY = { waitingMax: 100, waitingCallerMax: 50, runningCallerMax: 100 };

describe("FairQueue", () => {
  it("callers take turns, and what one caller asks stays in its order", () => {
    const queue = new FairQueue<string>(ROOMY);
    for (const item of ["a1", "a2", "a3", "b1", "b2", "c1"]) queue.add(item.charAt(0), item);
    const taken = Array.from({ length: 6 }, () => queue.take()?.item);
    assert.deepEqual(taken, ["a1", "b1", "c1", "a2", "b2", "a3"]);
    assert.equal(queue.take(), undefined);
  });

  it("a caller with all that it may have running leaves the rest to others", () => {
    const queue = new FairQueue<string>({ ...ROOMY, runningCallerMax: 1 });
    for (const item of ["a1", "a2", "b1"]) queue.add(item.charAt(0), item);
    assert.equal(queue.take()?.item, "a1");
    assert.equal(queue.take()?.item, "b1");
    assert.equal(queue.take(), undefined);
    queue.release("a");
    assert.equal(queue.take()?.item, "a2");
  });

  it("one caller may have only so many waiting", () => {
    const queue = new FairQueue<number>({ ...ROOMY, waitingCallerMax: 2 });
    assert.deepEqual(
      [1, 2, 3].map((item) => queue.add("a", item)),
      [undefined, undefined, 3],
    );
    assert.equal(queue.add("b", 4), undefined);
    assert.equal(queue.waitingCount, 3);
  });

  it("when it is full, the caller with the most waiting makes room", () => {
    const queue = new FairQueue<string>({ ...ROOMY, waitingMax: 4 });
    for (const item of ["a1", "a2", "a3", "a4"]) assert.equal(queue.add("a", item), undefined);
    assert.equal(queue.add("b", "b1"), "a4");
    assert.equal(queue.add("b", "b2"), "a3");
    assert.equal(queue.add("b", "b3"), "b3", "it has as many as the other");
    assert.equal(queue.add("c", "c1"), "a2");
    assert.equal(queue.waitingCount, 4);
  });

  it("forgets callers with nothing waiting and nothing running", () => {
    const queue = new FairQueue<number>({ ...ROOMY, runningCallerMax: 1 });
    queue.add("a", 1);
    queue.add("a", 2);
    assert.equal(queue.take()?.item, 1);
    assert.deepEqual(
      queue.remove((item) => item === 2),
      [2],
    );
    assert.equal(queue.waitingCount, 0);
    queue.release("a");
    assert.throws(() => queue.release("a"));
  });
});

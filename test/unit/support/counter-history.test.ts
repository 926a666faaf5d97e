import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findAnomaly, type Operation } from "../../support/counter-history.ts";

function increment(calledMs: number, answeredMs: number, value: number): Operation {
  return { kind: "increment", calledMs, answeredMs, value };
}

function read(calledMs: number, answeredMs: number, value: number): Operation {
  return { kind: "read", calledMs, answeredMs, value };
}

describe("the history of a counter", () => {
  it("is fine when operations that overlap take either order", () => {
    assert.equal(findAnomaly([increment(0, 10, 2), increment(1, 9, 1), read(2, 3, 0)]), undefined);
    assert.equal(findAnomaly([increment(0, 10, 1), read(2, 3, 1), read(4, 12, 1)]), undefined);
  });

  it("is fine when a read sees an increment whose answer was lost", () => {
    assert.equal(findAnomaly([read(5, 6, 1)], [{ calledMs: 0 }]), undefined);
  });

  it("shows a read that misses an increment that had ended", () => {
    assert.match(findAnomaly([increment(0, 1, 1), read(2, 3, 0)]) ?? "", /read of 0 began after/);
  });

  it("shows two reads that go back in time", () => {
    const history = [increment(0, 10, 1), read(2, 3, 1), read(4, 5, 0)];
    assert.match(findAnomaly(history) ?? "", /read of 0 began after read of 1/);
  });

  it("shows an increment that was lost", () => {
    assert.match(findAnomaly([increment(0, 1, 1), increment(2, 3, 1)]) ?? "", /same value/);
  });

  it("shows increments in the wrong order", () => {
    const history = [increment(0, 1, 2), increment(2, 3, 1)];
    assert.match(findAnomaly(history) ?? "", /increment of 1 began after increment of 2/);
  });

  it("shows a value without an increment", () => {
    assert.match(findAnomaly([increment(0, 1, 1), read(0, 1, 2)]) ?? "", /has no increment/);
  });

  it("shows a read of what was only called later", () => {
    const history = [read(0, 1, 1), increment(2, 3, 1)];
    assert.match(findAnomaly(history) ?? "", /increment of 1 began after read of 1/);
    assert.match(findAnomaly([read(0, 1, 1)], [{ calledMs: 2 }]) ?? "", /from the future/);
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Intake, type Unchecked } from "../../../src/replica/transactions/intake.ts";

const LIMITS = { laneCountMax: 160, laneBytesMax: 16_000 };

function unchecked(source: string, size = 10): Unchecked {
  return { bytes: new Uint8Array(size), source, refuse: undefined };
}

describe("the intake of a replica", () => {
  it("keeps what one source may have waiting, in transactions and in bytes", () => {
    const intake = new Intake(LIMITS, {});
    for (let count = 0; count < 1_000; count++) intake.push(unchecked("client 8"));
    assert.equal(intake.size, 160);
    for (let count = 0; count < 1_000; count++) intake.push(unchecked("client 9", 1_000));
    assert.equal(intake.size, 160 + 16);
    assert.equal(intake.droppedCount, 840 + 984);
    intake.push(unchecked("client 10"));
    assert.equal(intake.size, 160 + 16 + 1, "another source has its own budget");
  });

  it("goes round the sources, so that a flood does not delay the others", () => {
    const intake = new Intake(LIMITS, {});
    for (let count = 0; count < 160; count++) intake.push(unchecked("client 8"));
    for (let count = 0; count < 4; count++) intake.push(unchecked("client 9"));
    const first = intake.take(16).map(({ source }) => source);
    assert.equal(first.length, 16);
    assert.equal(first.filter((source) => source === "client 9").length, 4);
    assert.equal(intake.take(1_000).length, 160 + 4 - 16);
    assert.equal(intake.size, 0);
  });

  it("holds a source that crowds it until it has been checked", () => {
    const held: string[] = [];
    const intake = new Intake(LIMITS, {
      hold: (source, isHeld) => held.push(`${source} ${isHeld ? "held" : "released"}`),
    });
    for (let count = 0; count < 160; count++) intake.push(unchecked("client 8"));
    intake.push(unchecked("client 9"));
    assert.deepEqual(held, ["client 8 held"]);
    while (intake.size > 0) intake.take(16);
    assert.deepEqual(held, ["client 8 held", "client 8 released"]);
    for (let count = 0; count < 160; count++) intake.push(unchecked("client 8"));
    intake.forget("client 8");
    assert.equal(intake.size, 0);
    assert.deepEqual(held.slice(2), ["client 8 held", "client 8 released"]);
  });

  it("keeps the order of one source over many small takes", () => {
    const intake = new Intake({ laneCountMax: 1_000, laneBytesMax: 100_000 }, {});
    const sizes: number[] = [];
    for (let size = 1; size <= 200; size++) {
      intake.push(unchecked("client 8", size));
      if (size % 3 === 0) sizes.push(...intake.take(2).map(({ bytes }) => bytes.length));
    }
    sizes.push(...intake.take(1_000).map(({ bytes }) => bytes.length));
    assert.deepEqual(
      sizes,
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
  });
});

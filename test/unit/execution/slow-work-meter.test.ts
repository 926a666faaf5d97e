import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Precompile } from "../../../src/evm/precompile.ts";
import { SlowWorkMeter } from "../../../src/execution/slow-work-meter.ts";

const OUTPUT = Uint8Array.of(1);
const slow: Precompile = { name: "slow", gasCost: (input) => input.length, run: () => OUTPUT };

describe("the share of slow work (docs/adr/0010)", () => {
  it("counts what was run, and fails the call that no longer fits", () => {
    const meter = new SlowWorkMeter(10);
    const metered = meter.meter(new Map([[5n, slow]])).get(5n);
    assert.ok(metered !== undefined);
    assert.deepEqual(metered.run(new Uint8Array(6)), OUTPUT);
    assert.equal(metered.run(new Uint8Array(6)), undefined);
    assert.equal(meter.isExhausted, true);
  });

  it("an exhausted transaction runs no further precompile; the next one may use what is left", () => {
    const meter = new SlowWorkMeter(10);
    const metered = meter.meter(new Map([[5n, slow]])).get(5n);
    assert.ok(metered !== undefined);
    assert.equal(metered.run(new Uint8Array(11)), undefined);
    assert.equal(metered.run(new Uint8Array(1)), undefined, "its result means nothing any more");
    meter.beginTransaction({ slowGas: 0 }, 100);
    assert.equal(meter.isExhausted, false);
    assert.deepEqual(metered.run(new Uint8Array(10)), OUTPUT);
  });

  it("counts each call for itself once it is renewed, by the same precompiles", () => {
    const meter = new SlowWorkMeter(10);
    const precompiles = new Map([[5n, slow]]);
    const metered = meter.meter(precompiles);
    assert.equal(metered.get(5n)?.run(new Uint8Array(11)), undefined);
    meter.beginTransaction({ slowGas: 1_000 }, 8);
    meter.renew();
    assert.equal(meter.isExhausted, false);
    assert.equal(meter.meter(precompiles), metered);
    assert.deepEqual(metered.get(5n)?.run(new Uint8Array(10)), OUTPUT);
    assert.equal(metered.get(5n)?.run(new Uint8Array(1)), undefined);
  });

  it("leaves the quick ones alone", () => {
    const meter = new SlowWorkMeter(1);
    const metered = meter.meter(new Map([[4n, slow]]));
    assert.deepEqual(metered.get(4n)?.run(new Uint8Array(100)), OUTPUT);
    assert.equal(meter.isExhausted, false);
  });

  it("counts slow opcodes beyond an eighth of a transaction's gas", () => {
    const meter = new SlowWorkMeter(100);
    const opcodes = { slowGas: 0 };
    meter.beginTransaction(opcodes, 80);
    opcodes.slowGas = 70;
    assert.equal(meter.isExhausted, false);
    meter.endTransaction();
    meter.beginTransaction(opcodes, 80);
    opcodes.slowGas = 50;
    assert.equal(meter.isExhausted, false, "60 are counted, 40 are left, 10 are free");
    opcodes.slowGas = 51;
    assert.equal(meter.isExhausted, true);
    meter.endTransaction();
    meter.beginTransaction(opcodes, 80);
    opcodes.slowGas = 10;
    assert.equal(meter.isExhausted, false, "ordinary code always fits");
    opcodes.slowGas = 11;
    assert.equal(meter.isExhausted, true, "what did not fit took time all the same");
  });
});

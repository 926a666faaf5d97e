import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Precompile } from "../../../src/evm/precompile.ts";
import { modularExponentiation } from "../../../src/evm/precompiles/modexp.ts";
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

  it("counts precompiles that take longer per gas several times", () => {
    const meter = new SlowWorkMeter(100);
    const metered = meter.meter(new Map([[0x0an, slow]])).get(0x0an);
    assert.deepEqual(metered?.run(new Uint8Array(16)), OUTPUT, "6 x 16");
    assert.equal(metered.run(new Uint8Array(1)), undefined, "6 more");
    assert.equal(meter.isExhausted, true);
  });

  it("counts every squaring of modexp, which costs a third of a gas for short numbers", () => {
    const word = (value: number): Uint8Array =>
      Uint8Array.from({ length: 32 }, (_, index) =>
        index < 30 ? 0 : (value >> (8 * (31 - index))) & 255,
      );
    // One-byte base and modulus, an exponent of 1,000 bytes: 7,744 squarings in the tail alone.
    const input = Buffer.concat([word(1), word(1000), word(1), new Uint8Array(1002).fill(0xff)]);
    const gas = modularExponentiation.gasCost(input);
    assert.equal(gas, 2666);
    const meter = new SlowWorkMeter(20 * gas);
    const metered = meter.meter(new Map([[5n, modularExponentiation]])).get(5n);
    assert.ok(metered !== undefined);
    assert.equal(metered.run(input), undefined, "it counts 28 times its gas");
    assert.equal(meter.isOversized, true);
    const roomy = new SlowWorkMeter(30 * gas).meter(new Map([[5n, modularExponentiation]]));
    assert.equal(roomy.get(5n)?.run(input)?.length, 1);
  });

  it("tells a transaction that no block has room for from one that has to wait", () => {
    const meter = new SlowWorkMeter(10);
    const metered = meter.meter(new Map([[5n, slow]])).get(5n);
    assert.ok(metered !== undefined);
    meter.beginTransaction({ slowGas: 0 }, 100);
    assert.deepEqual(metered.run(new Uint8Array(6)), OUTPUT);
    meter.endTransaction();
    meter.beginTransaction({ slowGas: 0 }, 100);
    assert.equal(metered.run(new Uint8Array(6)), undefined);
    assert.equal(meter.isExhausted, true);
    assert.equal(meter.isOversized, false, "an empty block has room for it");
    meter.endTransaction();
    const fresh = new SlowWorkMeter(10);
    const again = fresh.meter(new Map([[5n, slow]])).get(5n);
    const opcodes = { slowGas: 0 };
    fresh.beginTransaction(opcodes, 80);
    assert.deepEqual(again?.run(new Uint8Array(8)), OUTPUT);
    opcodes.slowGas = 12;
    assert.equal(fresh.isOversized, false, "10 of the opcodes are free, 2 count");
    opcodes.slowGas = 13;
    assert.equal(fresh.isOversized, true, "precompiles and opcodes count together");
    fresh.endTransaction();
    fresh.beginTransaction({ slowGas: 0 }, 80);
    assert.equal(fresh.isOversized, false, "each transaction counts for itself");
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

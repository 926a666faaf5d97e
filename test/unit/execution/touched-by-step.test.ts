import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Step } from "../../../src/evm/tracer.ts";
import { touchedByStep } from "../../../src/execution/touched-by-step.ts";

const SELF = 0x5e1fn;
/** An address with bits above it, which the machine does not look at. */
const WORD = (1n << 200n) + 0xacn;

describe("what a step touches", () => {
  it("is a slot of the account that runs, for loads and stores", () => {
    for (const op of [0x54, 0x55]) {
      const touched = touchedByStep(stepOf(op, [WORD, 2n]));
      assert.deepEqual(touched, { address: SELF, slot: WORD }, `opcode ${op}`);
    }
  });

  it("is the account on top, or below the gas of a call, as an address of 20 bytes", () => {
    for (const op of [0x31, 0x3b, 0x3c, 0x3f, 0xff]) {
      const touched = touchedByStep(stepOf(op, [WORD, 2n]));
      assert.deepEqual(touched, { address: 0xacn }, `opcode ${op}`);
    }
    for (const op of [0xf1, 0xf2, 0xf4, 0xfa]) {
      const touched = touchedByStep(stepOf(op, [2n, WORD]));
      assert.deepEqual(touched, { address: 0xacn }, `opcode ${op}`);
    }
  });

  it("is nothing where the stack is too short, and for all other opcodes", () => {
    for (let op = 0; op < 256; op++) {
      assert.equal(touchedByStep(stepOf(op, [])), undefined, `opcode ${op}, empty stack`);
    }
    const touching = [];
    for (let op = 0; op < 256; op++) {
      if (touchedByStep(stepOf(op, [1n, 2n])) !== undefined) touching.push(op);
    }
    const named = [0x31, 0x3b, 0x3c, 0x3f, 0x54, 0x55, 0xf1, 0xf2, 0xf4, 0xfa, 0xff];
    assert.deepEqual(touching, named);
  });
});

function stepOf(op: number, topFirst: readonly bigint[]): Step {
  const step: Partial<Step> = { op, address: SELF, peek: (index) => topFirst[index] };
  return step as Step;
}

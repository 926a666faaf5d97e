import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Fault } from "../../../src/evm/tracer.ts";
import { faultText, opcodeName } from "../../../src/execution/trace/failure-text.ts";

describe("the text of a failure in a trace", () => {
  it("is that of go-ethereum, with its particulars", () => {
    const cases: readonly (readonly [Omit<Fault, "cost">, string])[] = [
      [{ reason: "INVALID_OPCODE", op: 0xfe, stackSize: 0 }, "invalid opcode: INVALID"],
      [
        { reason: "INVALID_OPCODE", op: 0x0c, stackSize: 0 },
        "invalid opcode: opcode 0xc not defined",
      ],
      [{ reason: "STACK_UNDERFLOW", op: 0x01, stackSize: 1 }, "stack underflow (1 <=> 2)"],
      [{ reason: "STACK_OVERFLOW", op: 0x60, stackSize: 1024 }, "stack limit reached 1024 (1023)"],
      [{ reason: "OUT_OF_GAS", op: 0x01, stackSize: 2 }, "out of gas"],
    ];
    for (const [fault, text] of cases) assert.equal(faultText({ ...fault, cost: 0 }), text);
    assert.equal(opcodeName(0x5f), "PUSH0");
  });
});

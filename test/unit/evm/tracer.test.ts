import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bytesToHex } from "../../../src/base/hex.ts";
import { OPCODE_NAMES } from "../../../src/evm/opcodes/opcode-table.ts";
import type { Precompile } from "../../../src/evm/precompile.ts";
import type { Tracer } from "../../../src/evm/tracer.ts";
import { RETURN_TOP } from "./bytecode.ts";
import { chainOf, CONTRACT, gasUsed, OTHER, SENDER } from "./test-chain.ts";

/** Writes down every hook as a line. */
function recordingTracer(): { readonly tracer: Tracer; readonly lines: string[] } {
  const lines: string[] = [];
  const tracer: Tracer = {
    onEnter: ({ kind, depth, caller, to, value, isPrecompile }) =>
      lines.push(
        `enter ${kind} ${depth} ${caller} ${to} ${value}${isPrecompile ? " precompile" : ""}`,
      ),
    onStep: ({ op, depth }) => lines.push(`step ${OPCODE_NAMES[op] ?? "?"} ${depth}`),
    onStepEnd: (cost) => lines.push(`cost ${cost}`),
    onFault: ({ reason, cost }) => lines.push(`fault ${reason} ${cost}`),
    onExit: ({ depth, status, reason, output }) =>
      lines.push(`exit ${depth} ${status} ${reason ?? ""}${bytesToHex(output)}`),
  };
  return { tracer, lines };
}

const CALL_OTHER = `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH ${OTHER} PUSH 1000 CALL`;
const CALL_STEPS = ["PUSH0", "PUSH0", "PUSH0", "PUSH0", "PUSH0"];

describe("tracer", () => {
  it("a tracer sees every frame, step and cost, in order", () => {
    const { tracer, lines } = recordingTracer();
    chainOf(CALL_OTHER, [[OTHER, { code: "PUSH 1 INVALID" }]]).call({}, tracer);
    assert.deepEqual(lines, [
      `enter CALL 0 ${SENDER} ${CONTRACT} 0`,
      ...CALL_STEPS.flatMap((name) => [`step ${name} 0`, "cost 2"]),
      ...["step PUSH2 0", "cost 3", "step PUSH2 0", "cost 3"],
      "step CALL 0",
      "cost 3600",
      `enter CALL 1 ${CONTRACT} ${OTHER} 0`,
      ...["step PUSH1 1", "cost 3", "step INVALID 1", "fault INVALID_OPCODE 0"],
      "exit 1 failure INVALID_OPCODE0x",
      ...["step STOP 0", "cost 0"],
      "exit 0 success 0x",
    ]);
  });

  it("a tracer sees what an opcode that fails would have cost, as go-ethereum reports it", () => {
    const cases: readonly (readonly [code: string, gas: number, line: string])[] = [
      ["JUMPDEST PUSH 0 JUMP", 0, "fault OUT_OF_GAS 1"],
      ["ADD", 100, "fault STACK_UNDERFLOW 3"],
      ["PUSH 7 JUMP", 100, "fault INVALID_JUMP 8"],
      ["PUSH 0 PUSH 1024 MSTORE", 50, "fault OUT_OF_GAS 104"],
      [`PUSH 0 PUSH ${2n ** 255n} MSTORE`, 50, "fault OUT_OF_GAS 3"],
      ["PUSH 1024 MLOAD", 50, "fault OUT_OF_GAS 104"],
      ["PUSH 256 PUSH 2 EXP", 50, "fault OUT_OF_GAS 110"],
      ["PUSH 5 SLOAD", 50, "fault OUT_OF_GAS 2100"],
      ["PUSH 32 PUSH 0 KECCAK256", 20, "fault OUT_OF_GAS 30"],
      ["INVALID", 100, "fault INVALID_OPCODE 0"],
    ];
    for (const [code, gas, line] of cases) {
      const { tracer, lines } = recordingTracer();
      chainOf(code).call({ gas }, tracer);
      assert.equal(lines.at(-2), line, code);
    }
  });

  it("sees precompiles, accounts without code, refused calls and SELFDESTRUCT as frames", () => {
    const nine: Precompile = { name: "nine", gasCost: () => 5, run: () => Uint8Array.of(9) };
    const precompiled = recordingTracer();
    const precompiles = new Map([[OTHER, nine]]);
    chainOf(CALL_OTHER, [], { precompiles }).call({}, precompiled.tracer);
    assert.ok(precompiled.lines.includes(`enter CALL 1 ${CONTRACT} ${OTHER} 0 precompile`));
    assert.ok(precompiled.lines.includes("exit 1 success 0x09"));
    const silent = recordingTracer();
    chainOf(CALL_OTHER).call({}, silent.tracer);
    assert.ok(silent.lines.includes("exit 1 success 0x"));
    const refused = recordingTracer();
    chainOf(
      CALL_OTHER.replace(
        "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0",
        "PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 1",
      ),
    ).call({}, refused.tracer);
    assert.ok(refused.lines.includes("exit 1 failure INSUFFICIENT_BALANCE0x"));
    const ended = recordingTracer();
    chainOf(`PUSH ${OTHER} SELFDESTRUCT`).call({ value: 4n }, ended.tracer);
    assert.deepEqual(ended.lines.slice(3), [
      "step SELFDESTRUCT 0",
      "cost 32600",
      `enter SELFDESTRUCT 1 ${CONTRACT} ${OTHER} 4`,
      "exit 1 success 0x",
      "exit 0 success 0x",
    ]);
  });

  it("can look at stack, memory, return data, refund and storage before each step", () => {
    const seen: string[] = [];
    const tracer: Tracer = {
      onStep: (step) => {
        if (step.op !== 0x5b) return;
        const words = step.stack().join(",");
        const { length } = step.memory();
        const peeks = [step.peek(0), step.peek(1), step.peek(2)].join(",");
        seen.push(`${step.pc} ${step.gas} ${words} ${peeks} ${length} ${step.returnData().length}`);
        seen.push(`${step.address} ${step.refund()}`);
      },
    };
    const code = `${CALL_OTHER} POP PUSH 5 PUSH 6 JUMPDEST`;
    const chain = chainOf(code, [[OTHER, { code: `PUSH 1 ${RETURN_TOP}` }]]);
    const result = chain.call({}, tracer);
    const gas = result.gasLeft + 1;
    assert.deepEqual(seen, [`17 ${gas} 5,6 6,5, 0 32`, `${CONTRACT} 0`]);
  });

  it("changes no result, whatever the program", () => {
    const loop = "PUSH 100 JUMPDEST PUSH 1 SWAP1 SUB DUP1 PUSH 2 JUMPI";
    const programs = [
      loop,
      `${loop} PUSH 1 PUSH 1 SSTORE PUSH 0 PUSH 1 SSTORE GAS ${RETURN_TOP}`,
      `${CALL_OTHER} ${CALL_OTHER} ADD GAS ADD ${RETURN_TOP}`,
      "PUSH 64 PUSH 0 PUSH 0 CREATE",
      "PUSH 3 JUMP",
      "ADD",
      "PUSH 1 PUSH 100000000 MSTORE",
    ];
    for (const code of programs) {
      const others = [[OTHER, { code: `${loop} GAS ${RETURN_TOP}` }]] as const;
      const plain = chainOf(code, others).call();
      const { tracer, lines } = recordingTracer();
      assert.deepEqual(chainOf(code, others).call({}, tracer), plain, code);
      assert.ok(lines.length > 2);
      assert.deepEqual(chainOf(code, others).call({}, {}), plain, "a tracer without hooks");
    }
  });

  it("changes nothing about jumps, which run as one with their PUSH2 without a tracer", () => {
    const programs = [
      "0x610005 JUMP INVALID JUMPDEST GAS",
      "0x610006 JUMP INVALID JUMPDEST GAS",
      "0x61ffff JUMP",
      "0x610004 JUMPI",
      "PUSH 0 0x61ffff JUMPI GAS",
      "PUSH 1 0x610007 JUMPI INVALID JUMPDEST GAS",
      "0x6100",
      "0x610102 POP",
      `${"PUSH 0 ".repeat(1024)} 0x610005 JUMP`,
    ];
    for (const code of programs) {
      for (let gas = 0; gas < 30; gas++) {
        const plain = chainOf(code).call({ gas });
        assert.deepEqual(chainOf(code).call({ gas }, {}), plain, `${code} with ${gas} gas`);
      }
      assert.deepEqual(chainOf(code).call({}, {}), chainOf(code).call(), code);
    }
  });

  it("the costs of the steps and the gas of the frames add up to the gas used", () => {
    let total = 0;
    const depths: number[] = [];
    const tracer: Tracer = {
      onStep: ({ depth }) => depths.push(depth),
      onStepEnd: (cost) => {
        if (depths.at(-1) === 0) total += cost;
      },
      onExit: ({ depth, gasUsed: used }) => {
        if (depth === 1) total += used - 1000;
      },
    };
    const chain = chainOf(`${CALL_OTHER} POP PUSH 1 MLOAD`, [[OTHER, { code: "PUSH 1 MLOAD" }]]);
    assert.equal(total, 0);
    const result = chain.call({}, tracer);
    assert.equal(total, gasUsed(result));
  });
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { keccak256Word } from "../../../src/crypto/keccak256.ts";
import { expansionGas } from "../../../src/evm/memory.ts";
import { bytesToWord, readWord, writeWord } from "../../../src/evm/word.ts";
import { assemble, RETURN_TOP } from "./bytecode.ts";
import { chainOf, gasUsed, OTHER, runForWord } from "./test-chain.ts";

const HUGE = [1n << 32n, 1n << 53n, (1n << 64n) - 1n, 1n << 64n, 1n << 255n, (1n << 256n) - 1n];

/** With % for the offset and 1 byte or 32 of size. */
const MEMORY_OPCODES = [
  "PUSH % MLOAD",
  "PUSH 1 PUSH % MSTORE",
  "PUSH 1 PUSH % MSTORE8",
  "PUSH 1 PUSH % KECCAK256",
  "PUSH 1 PUSH 0 PUSH % CALLDATACOPY",
  "PUSH 1 PUSH 0 PUSH % CODECOPY",
  "PUSH 1 PUSH 0 PUSH % PUSH 1 EXTCODECOPY",
  "PUSH 1 PUSH 0 PUSH % MCOPY",
  "PUSH 1 PUSH % PUSH 0 MCOPY",
  "PUSH 1 PUSH % LOG0",
  "PUSH 1 PUSH % RETURN",
  "PUSH 1 PUSH % REVERT",
  "PUSH 1 PUSH % PUSH 0 CREATE",
  "PUSH 0 PUSH 1 PUSH % PUSH 0 CREATE2",
  "PUSH 0 PUSH 0 PUSH 1 PUSH % PUSH 0 PUSH 1 PUSH 0 CALL",
  "PUSH 1 PUSH % PUSH 0 PUSH 0 PUSH 0 PUSH 1 PUSH 0 CALL",
  "PUSH 1 PUSH % PUSH 0 PUSH 0 PUSH 1 PUSH 0 STATICCALL",
];

describe("memory", () => {
  it("words survive the way through bytes", () => {
    const view = new DataView(new ArrayBuffer(64));
    const word = fc.oneof(
      fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
      fc.bigInt({ min: 0n, max: 255n }).map((bit) => 1n << bit),
    );
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 32 }), (value, offset) => {
        writeWord(view, offset, value);
        assert.equal(readWord(view, offset), value);
        const bytes = new Uint8Array(view.buffer, offset, 32);
        assert.equal(bytesToWord(bytes), BigInt(`0x${Buffer.from(bytes).toString("hex")}`));
      }),
    );
  });

  it("an offset that no gas can pay for is out of gas, whatever the opcode", () => {
    for (const template of MEMORY_OPCODES) {
      for (const offset of HUGE) {
        const code = template.replace("%", String(offset));
        const result = chainOf(code).call();
        assert.equal(result.reason, "OUT_OF_GAS", code);
        assert.equal(result.gasLeft, 0, code);
      }
    }
  });

  it("an empty range needs no memory, wherever it lies", () => {
    for (const template of MEMORY_OPCODES.filter((text) => text.includes("PUSH 1 PUSH %"))) {
      if (/MSTORE/.test(template)) continue;
      const code = `${template.replace("PUSH 1 PUSH %", `PUSH 0 PUSH ${(1n << 256n) - 1n}`)} STOP`;
      assert.notEqual(chainOf(code).call().status, "failure", code);
    }
  });

  it("a size that no gas can pay for is out of gas", () => {
    const templates = MEMORY_OPCODES.filter((text) => /PUSH 1 PUSH( \d PUSH)? %/.test(text));
    for (const template of templates.filter((text) => !/MSTORE/.test(text))) {
      for (const size of HUGE) {
        const code = template.replace("PUSH 1", `PUSH ${size}`).replace("%", "0");
        const result = chainOf(code).call();
        const expected = template.includes("CREATE") ? "INIT_CODE_TOO_LARGE" : "OUT_OF_GAS";
        assert.equal(result.reason, expected, code);
      }
    }
  });

  it("growth costs 3 gas a word and the square of the words over 512", () => {
    const cost = (words: number): number => 3 * words + Math.floor((words * words) / 512);
    for (const [from, end, words] of [
      [0, 1, 1],
      [0, 32, 1],
      [0, 33, 2],
      [32, 64, 2],
      [0, 23_168, 724],
      [0, 1 << 20, 1 << 15],
    ] as const) {
      assert.equal(expansionGas(from, end), cost(words) - cost(from / 32), `${from} to ${end}`);
    }
    const result = chainOf("PUSH 1000 MLOAD").call();
    assert.equal(gasUsed(result), 3 + 3 + cost(33));
    const twice = chainOf("PUSH 1000 MLOAD PUSH 0 MLOAD").call();
    assert.equal(gasUsed(twice), 3 + 3 + cost(33) + 2 + 3);
  });

  it("memory is zero when it is new, even where another frame wrote before", () => {
    const writer = `PUSH ${(1n << 256n) - 1n} PUSH 0 MSTORE PUSH ${(1n << 256n) - 1n} PUSH 32 MSTORE`;
    const call = `PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH 0 PUSH ${OTHER} GAS CALL POP`;
    const chain = chainOf(`${call} PUSH 32 MLOAD PUSH 0 MLOAD OR ${RETURN_TOP}`, [
      [OTHER, { code: writer }],
    ]);
    assert.equal(bytesToWord(chain.call().output), 0n);
    assert.equal(bytesToWord(chain.call().output), 0n);
  });

  it("a parent's memory outlives a child that makes the shared buffer grow", () => {
    const chain = chainOf(
      `PUSH 0xabcdef PUSH 0 MSTORE
       PUSH 0 PUSH 0 PUSH 32 PUSH 0 PUSH 0 PUSH ${OTHER} GAS CALL POP PUSH 0 MLOAD ${RETURN_TOP}`,
      [[OTHER, { code: "PUSH 1 PUSH 200000 MSTORE PUSH 0 CALLDATALOAD PUSH 0 SSTORE" }]],
    );
    assert.equal(bytesToWord(chain.call().output), 0xabcdefn);
    assert.equal(chain.journal.storage(OTHER, 0n), 0xabcdefn, "and its calldata, too");
  });

  it("MSTORE8 writes the low byte; MCOPY copies overlapping ranges either way", () => {
    assert.equal(runForWord(`PUSH 0x1ff PUSH 31 MSTORE8 PUSH 0 MLOAD ${RETURN_TOP}`), 0xffn);
    const word = 0x0102030405060708091011121314151617181920212223242526272829303132n;
    const store = `PUSH ${word} PUSH 0 MSTORE`;
    const right = runForWord(`${store} PUSH 31 PUSH 0 PUSH 1 MCOPY PUSH 0 MLOAD ${RETURN_TOP}`);
    assert.equal(right, (1n << 248n) | (word >> 8n));
    const left = runForWord(`${store} PUSH 31 PUSH 1 PUSH 0 MCOPY PUSH 0 MLOAD ${RETURN_TOP}`);
    assert.equal(left, BigInt.asUintN(256, word << 8n) | 0x32n);
  });

  it("copies read zeros beyond the end of their source, also for huge source offsets", () => {
    const dirty = `PUSH ${(1n << 256n) - 1n} PUSH 0 MSTORE`;
    const data = Uint8Array.from([1, 2, 3]);
    for (const [source, expected] of [
      [0n, 0x010203n << 232n],
      [2n, 3n << 248n],
      [3n, 0n],
      [1n << 64n, 0n],
      [(1n << 256n) - 1n, 0n],
    ] as const) {
      const copy = `${dirty} PUSH 32 PUSH ${source} PUSH 0 CALLDATACOPY PUSH 0 MLOAD ${RETURN_TOP}`;
      assert.equal(bytesToWord(chainOf(copy).call({ data }).output), expected, `copy ${source}`);
      const load = `PUSH ${source} CALLDATALOAD ${RETURN_TOP}`;
      assert.equal(bytesToWord(chainOf(load).call({ data }).output), expected, `load ${source}`);
    }
    const long = `PUSH 100 PUSH 1 PUSH 0 CALLDATACOPY PUSH 100 PUSH 0 RETURN`;
    const { output } = chainOf(long).call({ data: new Uint8Array(60).fill(9) });
    assert.deepEqual([output[58], output[59], output[99]], [9, 0, 0]);
    const code = `PUSH 64 PUSH 0 PUSH 0 CODECOPY PUSH 64 PUSH 0 RETURN`;
    const copied = chainOf(code).call().output;
    const bytes = assemble(code);
    assert.deepEqual(copied.subarray(0, bytes.length), bytes);
    assert.ok(copied.subarray(bytes.length).every((byte) => byte === 0));
  });

  it("KECCAK256 hashes memory and charges by the word", () => {
    const empty = keccak256Word(new Uint8Array(0), 0, 0);
    assert.equal(runForWord(`PUSH 0 PUSH ${(1n << 200n) - 1n} KECCAK256 ${RETURN_TOP}`), empty);
    const zeros = keccak256Word(new Uint8Array(33), 0, 33);
    assert.equal(runForWord(`PUSH 33 PUSH 7 KECCAK256 ${RETURN_TOP}`), zeros);
    const result = chainOf("PUSH 33 PUSH 0 KECCAK256").call();
    assert.equal(gasUsed(result), 3 + 2 + 30 + 2 * 6 + 2 * 3);
  });

  it("EXTCODE opcodes see other accounts and charge for the first look", () => {
    const others = [[OTHER, { code: "0x0102030405" }]] as const;
    const size = chainOf(`PUSH ${OTHER} EXTCODESIZE ${RETURN_TOP}`, others);
    assert.equal(bytesToWord(size.call().output), 5n);
    const high = (1n << 200n) | OTHER;
    const masked = chainOf(`PUSH ${high} EXTCODESIZE ${RETURN_TOP}`, others);
    assert.equal(bytesToWord(masked.call().output), 5n, "the upper 96 bits do not count");
    const hash = chainOf(`PUSH ${OTHER} EXTCODEHASH ${RETURN_TOP}`, others);
    assert.equal(bytesToWord(hash.call().output), keccak256Word(assemble("0x0102030405"), 0, 5));
    assert.equal(runForWord(`PUSH 0x999 EXTCODEHASH ${RETURN_TOP}`), 0n, "no such account");
    const twice = chainOf(`PUSH ${OTHER} BALANCE PUSH ${OTHER} EXTCODESIZE`, others).call();
    assert.equal(gasUsed(twice), 3 + 2600 + 3 + 100);
    const copy = `PUSH 6 PUSH 1 PUSH 0 PUSH ${OTHER} EXTCODECOPY PUSH 0 MLOAD ${RETURN_TOP}`;
    const copied = bytesToWord(chainOf(copy, others).call().output);
    assert.equal(copied, 0x02030405n << 224n);
  });
});

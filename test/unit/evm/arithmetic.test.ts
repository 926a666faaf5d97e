import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { byteLength, power } from "../../../src/evm/opcodes/arithmetic.ts";
import { RETURN_TOP } from "./bytecode.ts";
import { runForWord } from "./test-chain.ts";

const LIMIT = 1n << 256n;
const SIGN = 1n << 255n;
const signed = (word: bigint): bigint => BigInt.asIntN(256, word);
const wrap = (number: bigint): bigint => BigInt.asUintN(256, number);
const truth = (isTrue: boolean): bigint => (isTrue ? 1n : 0n);

const EDGES = [0n, 1n, 2n, 31n, 32n, 255n, 256n, (1n << 64n) - 1n, 1n << 64n, 1n << 128n];
const word = fc.oneof(
  fc.constantFrom(...EDGES, SIGN - 1n, SIGN, SIGN + 1n, LIMIT - 2n, LIMIT - 1n),
  fc.bigInt({ min: 0n, max: LIMIT - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
);

/** The definitions, as the yellow paper has them; the first operand is the top of the stack. */
const DEFINITIONS: Readonly<Record<string, (a: bigint, b: bigint, c: bigint) => bigint>> = {
  ADD: (a, b) => wrap(a + b),
  MUL: (a, b) => wrap(a * b),
  SUB: (a, b) => wrap(a - b),
  DIV: (a, b) => (b === 0n ? 0n : a / b),
  SDIV: (a, b) => (b === 0n ? 0n : wrap(signed(a) / signed(b))),
  MOD: (a, b) => (b === 0n ? 0n : a % b),
  SMOD: (a, b) => (b === 0n ? 0n : wrap(signed(a) % signed(b))),
  ADDMOD: (a, b, c) => (c === 0n ? 0n : (a + b) % c),
  MULMOD: (a, b, c) => (c === 0n ? 0n : (a * b) % c),
  EXP: naivePower,
  SIGNEXTEND: (a, b) => (a > 30n ? b : wrap(BigInt.asIntN(8 * (Number(a) + 1), b))),
  LT: (a, b) => truth(a < b),
  GT: (a, b) => truth(a > b),
  SLT: (a, b) => truth(signed(a) < signed(b)),
  SGT: (a, b) => truth(signed(a) > signed(b)),
  EQ: (a, b) => truth(a === b),
  ISZERO: (a) => truth(a === 0n),
  AND: (a, b) => a & b,
  OR: (a, b) => a | b,
  XOR: (a, b) => a ^ b,
  NOT: (a) => wrap(~a),
  BYTE: (a, b) => (a > 31n ? 0n : BigInt.asUintN(8, b >> (8n * (31n - a)))),
  SHL: (a, b) => (a > 255n ? 0n : wrap(b << a)),
  SHR: (a, b) => (a > 255n ? 0n : b >> a),
  SAR: (a, b) => wrap(signed(b) >> (a > 255n ? 255n : a)),
};

describe("arithmetic opcodes", () => {
  for (const [name, define] of Object.entries(DEFINITIONS)) {
    it(`${name} is what its definition says, for all words`, () => {
      fc.assert(
        fc.property(word, word, word, (a, b, c) => {
          const code = `PUSH ${c} PUSH ${b} PUSH ${a} ${name} ${RETURN_TOP}`;
          assert.equal(runForWord(code), define(a, b, c), `${name} ${a} ${b} ${c}`);
        }),
        { numRuns: 300 },
      );
    });
  }

  it("the power is the same by any of its ways", () => {
    fc.assert(
      fc.property(word, fc.bigInt({ min: 0n, max: 0x2_0000n }), (base, exponent) => {
        assert.equal(power(base, exponent), naivePower(base, exponent));
      }),
    );
  });

  it("EXP charges 50 gas for every byte of the exponent", () => {
    for (const [exponent, size] of [
      [0n, 0],
      [1n, 1],
      [0xffn, 1],
      [0x100n, 2],
      [0xffff_ffffn, 4],
      [1n << 32n, 5],
      [LIMIT - 1n, 32],
      [1n << 248n, 32],
    ] as const) {
      assert.equal(byteLength(exponent), size, `byte length of ${exponent}`);
    }
  });
});

function naivePower(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = wrap(result * square);
    square = wrap(square * square);
  }
  return result;
}

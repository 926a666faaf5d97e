import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Prng } from "../../../src/base/prng.ts";
import { multiplyModulo, signedDivide, signedModulo } from "../../../src/evm/opcodes/arithmetic.ts";
import { readCountedWord, readWord, writeWord } from "../../../src/evm/word.ts";

const NEGATIVE = (1n << 256n) - 5n;

describe("words in memory", () => {
  it("are read as they stand there, of any width, at any offset, new or read before", () => {
    const prng = new Prng(3);
    const bytes = new Uint8Array(128);
    const view = new DataView(bytes.buffer);
    for (let step = 0; step < 20_000; step++) {
      // Few values per byte: words come again, and words come that differ in one byte.
      const at = prng.below(96);
      bytes[at] = prng.below(3);
      if (prng.chance(0.1)) bytes.fill(0, at, at + prng.below(32));
      const offset = prng.below(96);
      const text = Buffer.from(bytes.subarray(offset, offset + 32)).toString("hex");
      assert.equal(readWord(view, offset), BigInt(`0x${text}`), `step ${step}`);
    }
  });

  it("come back as they were written", () => {
    const view = new DataView(new ArrayBuffer(40));
    for (let bits = 0n; bits < 256n; bits++) {
      const word = (1n << bits) | (1n << (bits / 2n));
      writeWord(view, 8, word);
      assert.equal(readWord(view, 8), word);
    }
  });
});

describe("slow work (docs/adr/0010)", () => {
  it("counts every load of a wide word, whether it was read before or not", () => {
    const view = new DataView(new ArrayBuffer(32));
    const work = { slowGas: 0 };
    writeWord(view, 0, (1n << 128n) - 1n);
    readCountedWord(view, 0, work);
    assert.equal(work.slowGas, 0);
    for (const count of [1, 2, 3]) {
      writeWord(view, 0, 1n << 128n);
      assert.equal(readCountedWord(view, 0, work), 1n << 128n);
      assert.equal(work.slowGas, 5 * count);
    }
  });

  it("counts signed division of negative words and MULMOD of large products only", () => {
    const work = { slowGas: 0 };
    signedDivide(7n, 2n, work);
    signedModulo(7n, 0n, work);
    multiplyModulo(1n << 128n, (1n << 128n) - 1n, 7n, work);
    assert.equal(work.slowGas, 0);
    assert.equal(signedDivide(NEGATIVE, 2n, work), (1n << 256n) - 2n);
    assert.equal(signedModulo(7n, NEGATIVE, work), 2n);
    assert.equal(work.slowGas, 18);
    assert.equal(multiplyModulo(1n << 128n, 1n << 128n, 3n, work), 1n);
    assert.equal(work.slowGas, 32);
  });
});

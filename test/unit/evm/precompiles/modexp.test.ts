import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../../src/base/prng.ts";
import { modularExponentiation } from "../../../../src/evm/precompiles/modexp.ts";
import { word } from "./curve-inputs.ts";

const HUGE = [1n << 33n, (1n << 53n) + 1n, 1n << 64n, (1n << 256n) - 1n];

function sizes(base: bigint, exponent: bigint, modulus: bigint): Uint8Array {
  return Buffer.concat([word(base), word(exponent), word(modulus)]);
}

describe("modexp", () => {
  it("asks a price that no gas limit can pay for huge bases and moduli, and for huge exponents of them", () => {
    for (const size of HUGE) {
      for (const [base, exponent, modulus] of [
        [size, 1n, 1n],
        [1n, 1n, size],
        [1n, size, 1n],
        [size, size, size],
      ] as const) {
        const gas = modularExponentiation.gasCost(sizes(base, exponent, modulus));
        assert.ok(gas > 1e9, `${base} ${exponent} ${modulus} costs ${gas}`);
      }
    }
    assert.equal(modularExponentiation.gasCost(sizes(1n << 255n, 0n, 0n)), Infinity);
  });

  it("allocates nothing for a huge exponent that is free because nothing is raised", () => {
    for (const size of HUGE) {
      const input = sizes(0n, size, 0n);
      assert.equal(modularExponentiation.gasCost(input), 200);
      assert.deepEqual(modularExponentiation.run(input), new Uint8Array(0));
    }
  });

  it("prices by EIP-2565", () => {
    const of = (base: number, exponent: Uint8Array, modulus: number): number => {
      const head = sizes(BigInt(base), BigInt(exponent.length), BigInt(modulus));
      const input = Buffer.concat([head, new Uint8Array(base), exponent, new Uint8Array(modulus)]);
      return modularExponentiation.gasCost(input);
    };
    const ones = (size: number): Uint8Array => new Uint8Array(size).fill(255);
    assert.equal(of(32, ones(32), 32), 1360);
    assert.equal(of(0, ones(0), 0), 200);
    assert.equal(of(64, Uint8Array.of(3), 64), 200);
    assert.equal(of(256, Uint8Array.of(1, 0, 1), 256), 5461);
    assert.equal(of(64, ones(64), 64), 10_901);
    assert.equal(of(1, Buffer.concat([new Uint8Array(32), ones(1)]), 33), 200);
  });

  it("raises to powers modulo numbers of every length, odd and even", () => {
    const prng = new Prng(21);
    const lengths = Array.from({ length: 75 }, (_, index) => index + 1);
    for (const length of [...lengths, 100, 128, 255, 440, 444, 445, 450, 512]) {
      for (const isEven of [false, true]) {
        const modulus = prng.bytes(length);
        modulus[0]! |= 0x80;
        if (isEven) modulus.fill(0, length - prng.below(length));
        else modulus[length - 1]! |= 1;
        const base = prng.bytes(prng.between(0, length + 2));
        const exponent = prng.bytes(prng.pick([1, 4, 5, 17, 33, 97]));
        const head = sizes(BigInt(base.length), BigInt(exponent.length), BigInt(length));
        const output = modularExponentiation.run(Buffer.concat([head, base, exponent, modulus]));
        assert.equal(output?.length, length);
        const expected = power(toNumber(base), toNumber(exponent), toNumber(modulus));
        assert.equal(toNumber(output), expected, `${length} bytes, even: ${isEven}`);
      }
    }
  });
});

function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  for (const digit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (digit === "1") result = (result * base) % modulus;
  }
  return result;
}

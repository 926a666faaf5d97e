import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { bytesToHex } from "../../../src/base/hex.ts";
import { Prng } from "../../../src/base/prng.ts";
import { buildKeccak256Module } from "../../../src/crypto/keccak/keccak256-source.ts";
import { KECCAK256_WASM } from "../../../src/crypto/keccak/keccak256-wasm.ts";
import { keccak256, keccak256Into, keccak256Word } from "../../../src/crypto/keccak256.ts";

const text = (value: string): Uint8Array => Uint8Array.from(value, (char) => char.charCodeAt(0));

describe("keccak256", () => {
  const known: readonly (readonly [string, string])[] = [
    ["", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"],
    ["abc", "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"],
    [
      "Transfer(address,address,uint256)",
      "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    ],
  ];
  for (const [message, hash] of known) {
    it(`of ${JSON.stringify(message)} is ${hash}`, () => {
      assert.equal(bytesToHex(keccak256(text(message))), hash);
    });
  }

  it("is what another implementation says, at every length over three blocks", () => {
    const bytes = new Prng(7).bytes(420);
    for (let length = 0; length <= bytes.length; length++) {
      const message = bytes.subarray(0, length);
      assert.deepEqual(keccak256(message), keccak_256(message), `${length} bytes`);
    }
  });

  it("is right around the size that the kernel takes in one piece, and far beyond it", () => {
    const chunk = 136 * 476;
    const bytes = new Prng(8).bytes(3 * chunk + 10);
    for (const length of [chunk - 1, chunk, chunk + 1, chunk + 136, 2 * chunk, 3 * chunk + 10]) {
      const message = bytes.subarray(0, length);
      assert.deepEqual(keccak256(message), keccak_256(message), `${length} bytes`);
    }
  });

  it("depends on nothing that was hashed before", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (messages) => {
        for (const message of messages) assert.deepEqual(keccak256(message), keccak_256(message));
      }),
    );
  });

  it("hashes any range into any place, and leaves the bytes around it alone", () => {
    const range = fc.tuple(fc.uint8Array({ maxLength: 400 }), fc.nat(), fc.nat(), fc.nat(20));
    fc.assert(
      fc.property(range, ([data, first, second, outOffset]) => {
        const offset = Math.min(first % (data.length + 1), second % (data.length + 1));
        const end = Math.max(first % (data.length + 1), second % (data.length + 1));
        const expected = keccak_256(data.slice(offset, end));
        const out = new Uint8Array(60).fill(0xaa);
        keccak256Into(data, offset, end - offset, out, outOffset);
        assert.deepEqual(out.subarray(outOffset, outOffset + 32), expected);
        const around = out.filter((_, index) => index < outOffset || index >= outOffset + 32);
        assert.ok(around.every((byte) => byte === 0xaa));
        assert.equal(keccak256Word(data, offset, end - offset), BigInt(bytesToHex(expected)));
      }),
    );
  });

  it("takes a range outside the data or the output for a bug of its caller", () => {
    const data = new Uint8Array(10);
    assert.throws(() => keccak256Word(data, 5, 6), { name: "InvariantError" });
    assert.throws(() => keccak256Word(data, -1, 5), { name: "InvariantError" });
    assert.throws(() => keccak256Word(data, 0, -1), { name: "InvariantError" });
    assert.throws(() => keccak256Into(data, 0, 10, data, 0), { name: "InvariantError" });
  });

  it("returns memory of its own each time", () => {
    const first = keccak256(text("a"));
    const copy = first.slice();
    keccak256(text("b"));
    assert.deepEqual(first, copy);
  });

  it("runs the module that its source builds", () => {
    assert.equal(Buffer.from(buildKeccak256Module()).toString("base64"), KECCAK256_WASM);
  });
});

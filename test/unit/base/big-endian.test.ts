import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bigEndianSize, readBigEndian, writeBigEndian } from "../../../src/base/big-endian.ts";

describe("big-endian", () => {
  it("reads what it wrote, at any size and offset, and touches nothing around it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 140 }), fc.nat(8), fc.nat(), (size, offset, seed) => {
        const value = BigInt.asUintN(8 * size, BigInt(seed) ** 40n + 1n);
        const bytes = new Uint8Array(156).fill(0xaa);
        writeBigEndian(value, bytes, offset, size);
        assert.equal(readBigEndian(bytes, offset, size), value);
        const around = bytes.filter((_, index) => index < offset || index >= offset + size);
        assert.ok(around.every((byte) => byte === 0xaa));
      }),
      { numRuns: 500 },
    );
  });

  it("agrees with the digits of the number", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
        const value = BigInt(`0x${digits}`);
        assert.equal(readBigEndian(bytes, 0, bytes.length), value);
        const stripped = digits.replace(/^(00)+/, "");
        assert.equal(bigEndianSize(value), stripped.length / 2);
        const written = new Uint8Array(bytes.length);
        writeBigEndian(value, written, 0, bytes.length);
        assert.deepEqual(written, bytes);
      }),
      { numRuns: 500 },
    );
  });

  it("writes the lowest bytes of a number that is longer, and refuses to leave the bytes", () => {
    for (const size of [1, 8, 32, 33, 64, 100]) {
      const bytes = new Uint8Array(size);
      writeBigEndian((0xabn << BigInt(8 * size)) | 0x17n, bytes, 0, size);
      assert.equal(readBigEndian(bytes, 0, size), 0x17n, `${size} bytes`);
      assert.throws(() => readBigEndian(bytes, 1, size), { name: "InvariantError" });
      assert.throws(() => writeBigEndian(1n, bytes, 1, size), { name: "InvariantError" });
    }
  });

  it("knows the size at every power of two", () => {
    for (let bit = 0n; bit < 256n; bit++) {
      assert.equal(bigEndianSize(2n ** bit), Number(bit / 8n) + 1, `bit ${bit}`);
      if (bit > 0n) assert.equal(bigEndianSize(2n ** bit - 1n), Number((bit - 1n) / 8n) + 1);
    }
    assert.equal(bigEndianSize(0n), 0);
  });
});

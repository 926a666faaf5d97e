import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesToHex, hexToBytes, numberToHex, parseHex, wordToHex } from "../../../src/base/hex.ts";

describe("hex", () => {
  it("round-trips every byte", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    assert.deepEqual(hexToBytes(bytesToHex(bytes)), bytes);
  });

  it("refuses what is not 0x-prefixed pairs of digits", () => {
    for (const text of ["", "0", "00", "0x0", "0xzz", "0x 1", "x00", "0x00 "]) {
      assert.equal(parseHex(text), undefined, JSON.stringify(text));
    }
  });

  it("accepts either case and the empty string of bytes", () => {
    assert.deepEqual(parseHex("0xAbCd"), Uint8Array.of(0xab, 0xcd));
    assert.deepEqual(parseHex("0x"), new Uint8Array(0));
  });

  it("writes numbers as short, and words as long, as Ethereum does", () => {
    assert.equal(numberToHex(0n), "0x0");
    assert.equal(numberToHex(255), "0xff");
    assert.equal(wordToHex(0n), `0x${"0".repeat(64)}`);
    assert.equal(wordToHex(2n ** 256n - 1n), `0x${"f".repeat(64)}`);
  });
});

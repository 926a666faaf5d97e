import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { Reader } from "../../../src/wire/reader.ts";
import { Writer } from "../../../src/wire/writer.ts";

const signature = new Uint8Array(64).fill(9);
const hash = ZERO_HASH_TEXT.replace("00", "7f") as typeof ZERO_HASH_TEXT;

describe("Writer", () => {
  const writes: readonly (readonly [
    string,
    (writer: Writer) => void,
    (reader: Reader) => unknown,
  ])[] = [
    ["uint8", (writer) => writer.uint8(200), (reader) => reader.uint8() === 200],
    ["uint32", (writer) => writer.uint32(2 ** 31), (reader) => reader.uint32() === 2 ** 31],
    ["uint64", (writer) => writer.uint64(2 ** 40 + 5), (reader) => reader.uint64() === 2 ** 40 + 5],
    ["hash", (writer) => writer.hash(hash), (reader) => reader.hash() === hash],
    [
      "signature",
      (writer) => writer.signature(signature),
      (reader) => Buffer.compare(reader.signature(), signature) === 0,
    ],
    [
      "bytes",
      (writer) => writer.bytes(new Uint8Array(20_000).fill(3)),
      (reader) => reader.bytes(20_000).every((byte) => byte === 3),
    ],
  ];
  for (const [name, write, read] of writes) {
    it(`${name} is whole wherever the buffer happens to end`, () => {
      for (let used = 4_096 - 70; used <= 4_096; used++) {
        const writer = new Writer();
        writer.bytes(new Uint8Array(used).fill(1));
        write(writer);
        const reader = new Reader(writer.take());
        assert.ok(
          reader.bytes(used).every((byte) => byte === 1),
          `${name} after ${used} bytes`,
        );
        assert.equal(read(reader), true, `${name} after ${used} bytes`);
        assert.equal(reader.finish(0).ok, true, `${name} after ${used} bytes`);
      }
    });
  }

  it("gives away a large buffer instead of keeping it", () => {
    const writer = new Writer();
    writer.bytes(new Uint8Array(3 * 1024 * 1024).fill(5));
    const taken = writer.take();
    writer.reset();
    writer.uint8(1);
    assert.deepEqual(writer.take(), Uint8Array.of(1));
    assert.equal(taken[0], 5);
    assert.equal(taken.length, 3 * 1024 * 1024);
  });
});

describe("Reader", () => {
  it("keeps the first fault, and from then on reads nothing but zeroes", () => {
    const reader = new Reader(new Uint8Array(40).fill(0xff));
    assert.equal(reader.uint64(), 0);
    assert.equal(reader.uint8(), 0);
    assert.equal(reader.hash(), ZERO_HASH_TEXT);
    assert.equal(reader.flag(), false);
    assert.deepEqual(reader.bytes(3), new Uint8Array(0));
    assert.deepEqual(
      reader.list(10, 0, () => 1),
      [],
    );
    assert.deepEqual(reader.finish("value"), {
      ok: false,
      error: { code: "WIRE_INTEGER_UNSAFE", offset: 8 },
    });
  });
});

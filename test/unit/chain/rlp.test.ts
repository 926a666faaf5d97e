import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import {
  decodeRlp,
  encodeRlp,
  RLP_DEPTH_MAX,
  type RlpErrorCode,
  type RlpInput,
  type RlpItem,
} from "../../../src/chain/rlp/rlp.ts";

const { tree } = fc.letrec<{ tree: RlpItem; leaf: Uint8Array }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("tree"), { maxLength: 6 }),
  ),
  leaf: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ maxLength: 300 })),
}));

const text = (value: string): Uint8Array => Uint8Array.from(value, (char) => char.charCodeAt(0));

describe("rlp", () => {
  const known: readonly (readonly [string, RlpInput])[] = [
    ["0x83646f67", text("dog")],
    ["0xc88363617483646f67", [text("cat"), text("dog")]],
    ["0x80", new Uint8Array(0)],
    ["0xc0", []],
    ["0x80", 0],
    ["0x80", 0n],
    ["0x00", new Uint8Array(1)],
    ["0x0f", 15],
    ["0x820400", 1024],
    ["0x820400", 1024n],
    ["0x7f", 127n],
    ["0x8180", 128n],
    ["0x871fffffffffffff", Number.MAX_SAFE_INTEGER],
    ["0xc7c0c1c0c3c0c1c0", [[], [[]], [[], [[]]]]],
  ];
  for (const [encoded, input] of known) {
    it(`encodes to ${encoded}`, () => {
      assert.equal(bytesToHex(encodeRlp(input)), encoded);
    });
  }

  const refused: readonly (readonly [string, RlpErrorCode, string])[] = [
    ["0x", "RLP_TRUNCATED", "nothing"],
    ["0x8100", "RLP_BYTE_NOT_CANONICAL", "a small byte with a prefix"],
    ["0x817f", "RLP_BYTE_NOT_CANONICAL", "the largest small byte with a prefix"],
    ["0x83646f", "RLP_TRUNCATED", "a string cut short"],
    ["0xb8", "RLP_TRUNCATED", "a length cut off"],
    ["0xb801ff", "RLP_LENGTH_NOT_CANONICAL", "a long form for a short string"],
    [`0xb837${"ff".repeat(55)}`, "RLP_LENGTH_NOT_CANONICAL", "a long form for 55 bytes"],
    [`0xf837${"80".repeat(55)}`, "RLP_LENGTH_NOT_CANONICAL", "a long form for a list of 55"],
    ["0xb90038", "RLP_LENGTH_NOT_CANONICAL", "a length with a leading zero"],
    ["0xf800", "RLP_LENGTH_NOT_CANONICAL", "a long form for an empty list"],
    ["0xbfffffffffffffffff", "RLP_TRUNCATED", "a length of 2^64-1"],
    ["0xffffffffffffffffff", "RLP_TRUNCATED", "a list length of 2^64-1"],
    ["0xc0c0", "RLP_TRAILING_BYTES", "a second item"],
    ["0x0000", "RLP_TRAILING_BYTES", "a second byte"],
    ["0xc28363c0c0", "RLP_ITEM_EXCEEDS_LIST", "an item that leaves its list"],
    ["0xc3c0c0", "RLP_TRUNCATED", "a list cut short"],
  ];
  for (const [encoded, code, what] of refused) {
    it(`refuses ${what} with ${code}`, () => {
      const decoded = decodeRlp(hexToBytes(encoded));
      assert.equal(decoded.ok ? "accepted" : decoded.error.code, code);
    });
  }

  it("gives back what was encoded, as the reference encoder writes it", () => {
    fc.assert(
      fc.property(tree, (item) => {
        const encoded = encodeRlp(item);
        assert.deepEqual(encoded, RLP.encode(item as Uint8Array));
        assert.deepEqual(decodeRlp(encoded), { ok: true, value: item });
      }),
      { numRuns: 200 },
    );
  });

  it("writes integers as the reference does", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.maxSafeNat(), (big, small) => {
        assert.deepEqual(encodeRlp([big, small]), RLP.encode([big, small]));
      }),
    );
  });

  it("accepts no bytes but the canonical ones, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80, size: "max" }), (bytes) => {
        const decoded = decodeRlp(bytes);
        if (decoded.ok) assert.deepEqual(encodeRlp(decoded.value), bytes);
      }),
      { numRuns: 3000 },
    );
  });

  it("accepts a changed byte only when the result is canonical", () => {
    fc.assert(
      fc.property(tree, fc.nat(), fc.nat(255), (item, place, byte) => {
        const bytes = encodeRlp(item);
        bytes[place % bytes.length] = byte;
        const decoded = decodeRlp(bytes);
        if (decoded.ok) assert.deepEqual(encodeRlp(decoded.value), bytes);
      }),
      { numRuns: 1000 },
    );
  });

  it("bounds the depth of lists, so that no input exhausts the stack", () => {
    let nested: RlpItem = [];
    for (let depth = 1; depth < RLP_DEPTH_MAX; depth++) nested = [nested];
    assert.ok(decodeRlp(encodeRlp(nested)).ok);
    const decoded = decodeRlp(encodeRlp([nested]));
    assert.equal(decoded.ok ? "accepted" : decoded.error.code, "RLP_TOO_DEEP");
    assert.equal(decodeRlp(new Uint8Array(1_000_000).fill(0xc1)).ok, false);
  });

  it("encodes more than its buffer holds, in pieces that make it grow midway", () => {
    const large = [new Uint8Array(50_000).fill(1), [new Uint8Array(70_000).fill(2)], 5];
    assert.deepEqual(encodeRlp(large), RLP.encode(large));
    const many = Array.from({ length: 40_000 }, (_, index) => BigInt(index) * 2n ** 40n);
    assert.deepEqual(encodeRlp(many), RLP.encode(many));
  });
});

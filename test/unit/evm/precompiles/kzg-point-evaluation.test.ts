import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { Prng } from "../../../../src/base/prng.ts";
import { verifyKzgProof } from "../../../../src/crypto/kzg.ts";
import { sha256 } from "../../../../src/crypto/sha256.ts";
import { kzgPointEvaluation } from "../../../../src/evm/precompiles/kzg-point-evaluation.ts";
import { BLS_ORDER, BLS_PRIME, randomBelow, word } from "./curve-inputs.ts";

const G1 = bls12_381.G1.Point;
type Point = InstanceType<typeof G1>;

/** tau times the generator of G1, from the ceremony's setup: a commitment to the polynomial x. */
const TAU_G1 = G1.fromHex(
  "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42" +
    "d25926fc0c97b336e9f0fb35e5a04c81",
);

/** A line through the polynomial a x + b, which has value a z + b at z and quotient a. */
function drawProof(prng: Prng): { z: bigint; y: bigint; commitment: Point; proof: Point } {
  const [a, b, z] = [0, 0, 0].map(() => (prng.chance(0.2) ? 0n : randomBelow(prng, BLS_ORDER))) as [
    bigint,
    bigint,
    bigint,
  ];
  const times = (point: Point, k: bigint): Point => (k === 0n ? G1.ZERO : point.multiplyUnsafe(k));
  const commitment = times(TAU_G1, a).add(times(G1.BASE, b));
  return { z, y: (a * z + b) % BLS_ORDER, commitment, proof: times(G1.BASE, a) };
}

function encode(z: bigint, y: bigint, commitment: Uint8Array, proof: Uint8Array): Uint8Array {
  const hash = sha256(commitment).slice();
  hash[0] = 1;
  return Buffer.concat([hash, word(z), word(y), commitment, proof]);
}

const ANSWER =
  "0000000000000000000000000000000000000000000000000000000000001000" +
  "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";

describe("kzgPointEvaluation", () => {
  it("accepts true proofs, and refuses them with another value, point, proof or hash", () => {
    const prng = new Prng(11);
    for (let index = 0; index < 8; index++) {
      const { z, y, commitment, proof } = drawProof(prng);
      const [c, q] = [commitment.toBytes(), proof.toBytes()];
      const input = encode(z, y, c, q);
      const answer = kzgPointEvaluation.run(input);
      assert.ok(answer !== undefined, `case ${index}: a true proof is refused`);
      assert.equal(Buffer.from(answer).toString("hex"), ANSWER);
      const wrongY = encode(z, (y + 1n) % BLS_ORDER, c, q);
      assert.equal(kzgPointEvaluation.run(wrongY), undefined, `case ${index}: wrong y`);
      const wrongProof = encode(z, y, c, proof.add(G1.BASE).toBytes());
      assert.equal(kzgPointEvaluation.run(wrongProof), undefined, `case ${index}: wrong proof`);
      const wrongHash = input.slice();
      wrongHash[0] = 2;
      assert.equal(kzgPointEvaluation.run(wrongHash), undefined, `case ${index}: wrong hash`);
      assert.equal(kzgPointEvaluation.run(input.subarray(1)), undefined, "too short");
    }
  });

  it("refuses numbers out of range and points that are malformed or outside of the subgroup", () => {
    const { z, y, commitment, proof } = drawProof(new Prng(3));
    const [c, q] = [commitment.toBytes(), proof.toBytes()];
    const infinity = new Uint8Array(48);
    infinity[0] = 0xc0;
    const infinityWithX = infinity.slice();
    infinityWithX[47] = 1;
    const flagged = (bytes: Uint8Array, mask: number): Uint8Array => {
      const changed = bytes.slice();
      changed[0]! ^= mask;
      return changed;
    };
    const compressed = (x: bigint): Uint8Array => flagged(word(x, 48), 0x80);
    // x = 4 is on the curve, but not in the subgroup.
    const outside = compressed(4n);
    const cases: [string, bigint, bigint, Uint8Array, Uint8Array, boolean][] = [
      ["as it is", z, y, c, q, true],
      ["z beyond the order", z + BLS_ORDER, y, c, q, false],
      ["y beyond the order", z, y + BLS_ORDER, c, q, false],
      ["the other root", z, y, flagged(c, 0x20), q, false],
      ["not compressed", z, y, flagged(c, 0x80), q, false],
      ["infinity with bits", z, y, flagged(c, 0x40), q, false],
      ["proof not compressed", z, y, c, flagged(q, 0x80), false],
      ["x beyond the prime", z, y, compressed(BLS_PRIME + 4n), q, false],
      ["proof at x beyond the prime", z, y, c, compressed(BLS_PRIME + 4n), false],
      ["x of all ones", z, y, new Uint8Array(48).fill(0xff), q, false],
      ["infinity with a coordinate", z, 0n, infinityWithX, infinity, false],
      ["infinity not marked", z, 0n, new Uint8Array(48), infinity, false],
      ["constant polynomial", z, 1n, G1.BASE.toBytes(), infinity, true],
      ["constant polynomial, wrong value", z, 2n, G1.BASE.toBytes(), infinity, false],
      ["x is the prime", z, y, compressed(BLS_PRIME), q, false],
      ["outside of the subgroup", z, y, outside, q, false],
      ["proof outside of the subgroup", z, y, c, outside, false],
      ["no root", z, y, compressed(1n), q, false],
      ["zero polynomial", z, 0n, infinity, infinity, true],
      ["zero polynomial, wrong value", z, 1n, infinity, infinity, false],
      ["infinity marked as the larger root", z, 0n, flagged(infinity, 0x20), infinity, false],
    ];
    for (const [name, point, value, left, right, expected] of cases) {
      const [zBytes, yBytes] = [word(point % (1n << 256n)), word(value % (1n << 256n))];
      assert.equal(verifyKzgProof(left, zBytes, yBytes, right), expected, name);
    }
  });
});

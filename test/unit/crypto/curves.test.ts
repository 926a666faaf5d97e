/** Which points the curves of the precompiles refuse, and sums and products of many of them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { Prng } from "../../../src/base/prng.ts";
import * as bls12 from "../../../src/crypto/bls12-381.ts";
import { bn254Add, bn254Multiply, bn254PairingCheck } from "../../../src/crypto/bn254.ts";
import * as inputs from "../evm/precompiles/curve-inputs.ts";

const { word, randomScalar, BN_PRIME, BN_ORDER, BLS_PRIME, BLS_ORDER } = inputs;
type Curve = "G1" | "G2";

/** Enough terms for mcl's memory to grow, which detaches the views on it. */
const MANY = 2500;

describe("bn254", () => {
  const prng = new Prng(41);
  const g1 = Buffer.concat([word(1n), word(2n)]);
  const g2 = inputs.bnBilinearPairs(prng).subarray(256, 384);

  it("refuses coordinates that are not below the prime, also of points that would be right", () => {
    const cases: readonly (readonly [string, Uint8Array])[] = [
      ["x plus the prime", Buffer.concat([word(1n + BN_PRIME), word(2n)])],
      ["y plus the prime", Buffer.concat([word(1n), word(2n + BN_PRIME)])],
      ["infinity as the prime", Buffer.concat([word(BN_PRIME), word(0n)])],
      ["all ones", new Uint8Array(64).fill(0xff)],
      ["off the curve", Buffer.concat([word(1n), word(3n)])],
      ["x only", Buffer.concat([word(1n), word(0n)])],
      ["y only", Buffer.concat([word(0n), word(1n)])],
    ];
    for (const [name, point] of cases) {
      assert.equal(bn254Add(Buffer.concat([point, g1])), undefined, `${name}, left`);
      assert.equal(bn254Add(Buffer.concat([g1, point])), undefined, `${name}, right`);
      assert.equal(bn254Multiply(Buffer.concat([point, word(0n)])), undefined, `${name}, times 0`);
      assert.equal(bn254PairingCheck(Buffer.concat([point, g2])), undefined, `${name}, pairing`);
      const beside = Buffer.concat([point, new Uint8Array(128)]);
      assert.equal(bn254PairingCheck(beside), undefined, `${name}, with infinity`);
    }
    for (let offset = 0; offset < 128; offset += 32) {
      const coordinate = BigInt(
        `0x${Buffer.from(g2.subarray(offset, offset + 32)).toString("hex")}`,
      );
      const changed = Uint8Array.from(g2);
      changed.set(word(coordinate + BN_PRIME), offset);
      assert.equal(bn254PairingCheck(Buffer.concat([g1, changed])), undefined, `G2 at ${offset}`);
      changed.set(word((coordinate + 1n) % BN_PRIME), offset);
      assert.equal(bn254PairingCheck(Buffer.concat([g1, changed])), undefined, `off at ${offset}`);
    }
  });

  it("refuses points of the twist outside of the subgroup, also beside the point at infinity", () => {
    for (let index = 0; index < 20; index++) {
      const outside = inputs.bnG2OutsideSubgroup(prng);
      assert.equal(bn254PairingCheck(Buffer.concat([g1, outside])), undefined);
      const beside = Buffer.concat([new Uint8Array(64), outside]);
      assert.equal(bn254PairingCheck(beside), undefined);
    }
  });

  it("takes infinity for the neutral element", () => {
    const infinity = new Uint8Array(64);
    assert.deepEqual(bn254Add(Buffer.concat([g1, infinity])), Uint8Array.from(g1));
    assert.deepEqual(bn254Add(Buffer.concat([g1, inputs.negatedBnG1(g1)])), infinity);
    assert.deepEqual(bn254Multiply(Buffer.concat([infinity, word(7n)])), infinity);
    assert.deepEqual(bn254Multiply(Buffer.concat([g1, word(BN_ORDER)])), infinity);
    assert.deepEqual(bn254Multiply(Buffer.concat([g1, word(BN_ORDER + 1n)])), Uint8Array.from(g1));
    assert.equal(bn254PairingCheck(new Uint8Array(0)), true);
    assert.equal(bn254PairingCheck(new Uint8Array(192 * 3)), true);
    assert.equal(bn254PairingCheck(Buffer.concat([g1, new Uint8Array(128)])), true);
    assert.equal(bn254PairingCheck(Buffer.concat([infinity, g2])), true);
    assert.equal(bn254PairingCheck(Buffer.concat([g1, g2])), false);
  });

  it("multiplies the pairings of many pairs", () => {
    const pairs = Array.from({ length: 35 }, () => inputs.bnBilinearPairs(prng));
    assert.equal(bn254PairingCheck(Buffer.concat(pairs)), true);
    assert.equal(bn254PairingCheck(Buffer.concat([...pairs, g1, g2])), false);
  });
});

describe("BLS12-381", () => {
  const prng = new Prng(42);
  const pairs = inputs.blsBilinearPairs(prng);
  const points = { G1: pairs.subarray(0, 128), G2: pairs.subarray(128, 384) };
  const add = { G1: bls12.bls12AddG1, G2: bls12.bls12AddG2 };
  const multiplySum = { G1: bls12.bls12MultiplySumG1, G2: bls12.bls12MultiplySumG2 };
  const outsideOf = { G1: inputs.blsG1OutsideSubgroup, G2: inputs.blsG2OutsideSubgroup };
  const CURVES: readonly Curve[] = ["G1", "G2"];
  const term = (point: Uint8Array): Uint8Array => Buffer.concat([point, word(0n)]);
  const pairWith = (curve: Curve, point: Uint8Array): Uint8Array =>
    curve === "G1" ? Buffer.concat([point, points.G2]) : Buffer.concat([points.G1, point]);

  it("refuses coordinates with bits above the field, or off the curve", () => {
    for (const curve of CURVES) {
      const point = points[curve];
      for (let offset = 0; offset < point.length; offset += 64) {
        const value = BigInt(
          `0x${Buffer.from(point.subarray(offset, offset + 64)).toString("hex")}`,
        );
        for (const [name, changed] of [
          ["the prime added", value + BLS_PRIME],
          ["the first padding byte", value | (1n << 511n)],
          ["the last padding byte", value | (1n << 384n)],
          ["the next number", (value + 1n) % BLS_PRIME],
        ] as const) {
          const bad = Uint8Array.from(point);
          bad.set(word(changed, 64), offset);
          const text = `${curve} ${name} at ${offset}`;
          assert.equal(add[curve](Buffer.concat([bad, point])), undefined, text);
          assert.equal(add[curve](Buffer.concat([point, bad])), undefined, text);
          assert.equal(multiplySum[curve](term(bad)), undefined, text);
          assert.equal(bls12.bls12PairingCheck(pairWith(curve, bad)), undefined, text);
        }
      }
    }
    assert.equal(bls12.bls12MapToG1(word(BLS_PRIME, 64)), undefined);
    assert.equal(bls12.bls12MapToG1(word(1n << 384n, 64)), undefined);
    const pair = [word(1n, 64), word(BLS_PRIME, 64)];
    assert.equal(bls12.bls12MapToG2(Buffer.concat(pair)), undefined);
    assert.equal(bls12.bls12MapToG2(Buffer.concat(pair.reverse())), undefined);
  });

  it("refuses points outside of the subgroup, except in additions", () => {
    for (const curve of CURVES) {
      for (let index = 0; index < 12; index++) {
        const outside = outsideOf[curve](prng);
        assert.equal(multiplySum[curve](term(outside)), undefined, curve);
        const second = Buffer.concat([term(points[curve]), term(outside)]);
        assert.equal(multiplySum[curve](second), undefined, `${curve}, second term`);
        assert.equal(bls12.bls12PairingCheck(pairWith(curve, outside)), undefined, curve);
        const sum = add[curve](Buffer.concat([outside, new Uint8Array(outside.length)]));
        assert.deepEqual(sum, Uint8Array.from(outside), `${curve}, addition`);
      }
      const beside = {
        G1: [outsideOf.G1(prng), new Uint8Array(256)],
        G2: [new Uint8Array(128), outsideOf.G2(prng)],
      };
      assert.equal(bls12.bls12PairingCheck(Buffer.concat(beside[curve])), undefined, curve);
    }
  });

  it("takes infinity for the neutral element", () => {
    for (const curve of CURVES) {
      const point = points[curve];
      const infinity = new Uint8Array(point.length);
      assert.deepEqual(add[curve](Buffer.concat([infinity, infinity])), infinity);
      assert.deepEqual(add[curve](Buffer.concat([point, infinity])), Uint8Array.from(point));
      assert.deepEqual(multiplySum[curve](term(point)), infinity, "times zero");
      const infinityTerm = Buffer.concat([infinity, word(9n)]);
      assert.deepEqual(multiplySum[curve](infinityTerm), infinity);
      const order = Buffer.concat([point, word(BLS_ORDER)]);
      assert.deepEqual(multiplySum[curve](order), infinity, "times the order");
      const one = Buffer.concat([infinityTerm, point, word(BLS_ORDER + 1n), term(point)]);
      assert.deepEqual(multiplySum[curve](one), Uint8Array.from(point));
      assert.equal(bls12.bls12PairingCheck(pairWith(curve, infinity)), true);
    }
    assert.equal(bls12.bls12PairingCheck(pairs), true);
    assert.equal(bls12.bls12PairingCheck(pairs.subarray(0, 384)), false);
  });

  it("sums many terms", () => {
    for (const count of [2, 7, 8, 16, 67, 130]) {
      for (const curve of CURVES) {
        const { terms, sum } = drawTerms(prng, curve, count);
        assert.deepEqual(multiplySum[curve](terms), sum, `${count} terms of ${curve}`);
      }
    }
  });

  it("keeps its answers when the library's memory grows", () => {
    const one = Buffer.concat([points.G1, word(1n)]);
    const many = Buffer.concat(Array.from({ length: MANY }, () => one));
    const expected = multiplySum.G1(Buffer.concat([points.G1, word(BigInt(MANY))]));
    assert.deepEqual(multiplySum.G1(many), expected);
    assert.equal(bls12.bls12PairingCheck(pairs), true);
  });
});

type Terms = { readonly terms: Uint8Array; readonly sum: Uint8Array };

/** Terms k P, and by another library the sum of k times the discrete logarithms of P. */
function drawTerms(prng: Prng, curve: Curve, count: number): Terms {
  const { Fr } = bls12_381.fields;
  let total = 0n;
  const parts: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    const logarithm = inputs.randomBelow(prng, BLS_ORDER);
    const scalar = randomScalar(prng, BLS_ORDER);
    total = Fr.add(total, Fr.mul(logarithm, Fr.create(scalar)));
    parts.push(multiple(curve, logarithm), word(scalar));
  }
  return { terms: Buffer.concat(parts), sum: multiple(curve, total) };
}

function multiple(curve: Curve, scalar: bigint): Uint8Array {
  if (curve === "G1") {
    if (scalar === 0n) return new Uint8Array(128);
    const { x, y } = bls12_381.G1.Point.BASE.multiplyUnsafe(scalar).toAffine();
    return Uint8Array.from([...word(x, 64), ...word(y, 64)]);
  }
  if (scalar === 0n) return new Uint8Array(256);
  const { x, y } = bls12_381.G2.Point.BASE.multiplyUnsafe(scalar).toAffine();
  return Uint8Array.from([x.c0, x.c1, y.c0, y.c1].flatMap((value) => [...word(value, 64)]));
}

/** What runs on machines without fused arithmetic answers as what runs on all others. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../../src/base/prng.ts";
import { Bls12Engine } from "../../../../src/crypto/bls12-381/bls12-381-engine.ts";
import { NOBLE_BLS12 } from "../../../../src/crypto/bls12-381/bls12-381-noble.ts";
import { Bn254Engine } from "../../../../src/crypto/bn254/bn254-engine.ts";
import { NOBLE_BN254 } from "../../../../src/crypto/bn254/bn254-noble.ts";
import { isFusedArithmetic } from "../../../../src/crypto/pairing/fused-arithmetic.ts";
import * as inputs from "./curve-inputs.ts";

const { word, randomScalar, randomBelow, BN_ORDER, BLS_ORDER, BLS_PRIME } = inputs;

describe("slow and fast curves agree", { skip: !isFusedArithmetic() }, () => {
  it("on bn254", () => {
    const fast = new Bn254Engine();
    const prng = new Prng(31);
    for (let index = 0; index < 20; index++) {
      const [a, b] = [inputs.bnG1(prng), inputs.bnG1(prng)];
      const sum = Buffer.concat([a, b]);
      assert.deepEqual(hex(fast.add(sum)), hex(NOBLE_BN254.add(sum)), `add ${index}`);
      const scalar = word(randomScalar(prng, BN_ORDER));
      const product = hex(NOBLE_BN254.multiply(a, scalar));
      assert.deepEqual(hex(fast.multiply(a, scalar)), product, `multiply ${index}`);
      const pairs = inputs.bnBilinearPairs(prng);
      assert.equal(fast.pairingCheck(pairs), true, `pairing ${index}`);
      const outside = Buffer.concat([a, inputs.bnG2OutsideSubgroup(prng)]);
      assert.equal(fast.pairingCheck(outside), undefined, `outside ${index}`);
      assert.equal(NOBLE_BN254.pairingCheck(outside), undefined, `outside ${index}, slow`);
      const many = Buffer.concat([pairs, a, inputs.bnG2(prng)]);
      assert.equal(fast.pairingCheck(many), NOBLE_BN254.pairingCheck(many), `pairs ${index}`);
    }
  });

  it("on BLS12-381", () => {
    const fast = new Bls12Engine();
    const prng = new Prng(32);
    for (let index = 0; index < 8; index++) {
      const scalars = [0, 0].map(() => word(randomScalar(prng, BLS_ORDER)));
      const [a, b] = [inputs.blsG1(prng), inputs.blsG1(prng)];
      const [c, d] = [inputs.blsG2(prng), inputs.blsG2(prng)];
      const field = [0, 0].map(() => word(randomBelow(prng, BLS_PRIME), 64));
      const cases = {
        addG1: Buffer.concat([a, b]),
        addG2: Buffer.concat([c, d]),
        multiplySumG1: Buffer.concat([a, scalars[0]!, b, scalars[1]!]),
        multiplySumG2: Buffer.concat([c, scalars[0]!, d, scalars[1]!]),
        mapToG1: field[0]!,
        mapToG2: Buffer.concat(field),
      };
      for (const [name, input] of Object.entries(cases)) {
        const key = name as keyof typeof cases;
        assert.equal(hex(fast[key](input)), hex(NOBLE_BLS12[key](input)), `${name} ${index}`);
      }
      const pairs = inputs.blsBilinearPairs(prng);
      assert.equal(fast.pairingCheck(pairs), true, `pairing ${index}`);
      const more = Buffer.concat([pairs, a, c]);
      assert.equal(fast.pairingCheck(more), NOBLE_BLS12.pairingCheck(more), `pairs ${index}`);
    }
  });

  it("on sums and products of more terms than memory holds at once", () => {
    const fast = new Bls12Engine();
    const prng = new Prng(33);
    const sum = (point: (prng: Prng) => Uint8Array, count: number): Uint8Array =>
      Buffer.concat(
        Array.from({ length: count }, () => [
          point(prng),
          word(randomScalar(prng, BLS_ORDER)),
        ]).flat(),
      );
    const first = sum(inputs.blsG1, 67);
    assert.equal(hex(fast.multiplySumG1(first)), hex(NOBLE_BLS12.multiplySumG1(first)));
    const second = sum(inputs.blsG2, 18);
    assert.equal(hex(fast.multiplySumG2(second)), hex(NOBLE_BLS12.multiplySumG2(second)));
    const pairs = Array.from({ length: 35 }, () => inputs.bnBilinearPairs(prng));
    assert.equal(new Bn254Engine().pairingCheck(Buffer.concat(pairs)), true);
  });
});

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("hex");
}

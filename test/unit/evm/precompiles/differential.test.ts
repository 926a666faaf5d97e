/** Every precompile against @ethereumjs/evm's, over seeded inputs: equal gas, equal answers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Prng } from "../../../../src/base/prng.ts";
import { precompilesOf } from "../../../../src/evm/precompiles/registry.ts";
import * as inputs from "./curve-inputs.ts";
import { openReference, type Reference } from "./reference-precompiles.ts";

const { BN_PRIME, BN_ORDER, BLS_PRIME, BLS_ORDER, word, randomScalar, spoilt } = inputs;

type Family = {
  readonly address: number;
  readonly count: number;
  readonly draw: (prng: Prng) => Uint8Array;
};

const anyBytes = (prng: Prng): Uint8Array => prng.bytes(prng.pick([0, 1, 31, 32, 33, 64, 200]));

const FAMILIES: readonly Family[] = [
  { address: 0x01, count: 60, draw: drawEcrecover },
  { address: 0x02, count: 40, draw: anyBytes },
  { address: 0x03, count: 40, draw: anyBytes },
  { address: 0x04, count: 40, draw: anyBytes },
  { address: 0x05, count: 600, draw: drawModexp },
  {
    address: 0x06,
    count: 150,
    draw(prng) {
      const a = inputs.bnG1(prng);
      const b = prng.pick([inputs.bnG1(prng), inputs.bnG1(prng), a, inputs.negatedBnG1(a)]);
      return spoilt(prng, Buffer.concat([a, b]), BN_PRIME, 32);
    },
  },
  {
    address: 0x07,
    count: 80,
    draw: (prng) =>
      spoilt(
        prng,
        Buffer.concat([inputs.bnG1(prng), word(randomScalar(prng, BN_ORDER))]),
        BN_PRIME,
        32,
      ),
  },
  { address: 0x08, count: 30, draw: drawBnPairs },
  { address: 0x09, count: 150, draw: drawBlake2f },
  {
    address: 0x0b,
    count: 100,
    draw(prng) {
      const a = prng.chance(0.3) ? inputs.blsG1OutsideSubgroup(prng) : inputs.blsG1(prng);
      const b = prng.pick([inputs.blsG1(prng), inputs.blsG1(prng), a, inputs.negatedBlsG1(a)]);
      return spoilt(prng, Buffer.concat([a, b]), BLS_PRIME, 64);
    },
  },
  {
    address: 0x0c,
    count: 40,
    draw: (prng) => drawTerms(prng, inputs.blsG1, inputs.blsG1OutsideSubgroup),
  },
  {
    address: 0x0d,
    count: 60,
    draw(prng) {
      const a = prng.chance(0.3) ? inputs.blsG2OutsideSubgroup(prng) : inputs.blsG2(prng);
      const b = prng.pick([inputs.blsG2(prng), inputs.blsG2(prng), a]);
      return spoilt(prng, Buffer.concat([a, b]), BLS_PRIME, 64);
    },
  },
  {
    address: 0x0e,
    count: 30,
    draw: (prng) => drawTerms(prng, inputs.blsG2, inputs.blsG2OutsideSubgroup),
  },
  { address: 0x0f, count: 20, draw: drawBlsPairs },
  {
    address: 0x10,
    count: 30,
    draw: (prng) => spoilt(prng, drawField(prng), BLS_PRIME, 64),
  },
  {
    address: 0x11,
    count: 20,
    draw: (prng) => spoilt(prng, Buffer.concat([drawField(prng), drawField(prng)]), BLS_PRIME, 64),
  },
];

describe("precompiles answer as the reference does", () => {
  for (const family of FAMILIES) {
    const { address, count, draw } = family;
    const name = precompilesOf("prague").get(BigInt(address))?.name ?? "missing";
    it(`${name}: ${count} drawn inputs`, async () => {
      const reference = await openReference();
      const prng = new Prng(7000 + address);
      for (let index = 0; index < count; index++) {
        await compare(reference, address, draw(prng), index);
      }
    });
  }
});

async function compare(
  reference: Reference,
  address: number,
  input: Uint8Array,
  index: number,
): Promise<void> {
  const precompile = precompilesOf("prague").get(BigInt(address))!;
  const expected = await reference(address, input);
  const before = Buffer.from(input).toString("hex");
  const label = `case ${index}: ${before.slice(0, 1200)}`;
  const answer = precompile.run(input);
  assert.equal(Buffer.from(input).toString("hex"), before, `the input changed, ${label}`);
  const output = answer === undefined ? undefined : Buffer.from(answer).toString("hex");
  assert.equal(output, expected.output, label);
  if (expected.output === undefined) return;
  assert.equal(BigInt(precompile.gasCost(input)), expected.gas, `gas, ${label}`);
}

function drawEcrecover(prng: Prng): Uint8Array {
  const v = prng.pick([27n, 28n, 27n, 28n, 0n, 1n, 29n, 1n << 255n, 27n + (1n << 64n)]);
  const full = Buffer.concat([prng.bytes(32), word(v), prng.bytes(32), prng.bytes(32)]);
  if (prng.chance(0.2)) full.fill(0, prng.pick([64, 96]));
  return prng.chance(0.2) ? full.subarray(0, prng.below(128)) : full;
}

function drawModexp(prng: Prng): Uint8Array {
  const size = (): number =>
    prng.pick([0, 1, 2, 7, 8, 9, 16, 31, 32, 33, 40, 64, 65, prng.below(200)]);
  const [base, exponent, modulus] = [prng.bytes(size()), prng.bytes(size()), prng.bytes(size())];
  if (prng.chance(0.15)) exponent.fill(0, 0, prng.below(exponent.length + 1));
  if (prng.chance(0.1)) base.fill(0);
  if (prng.chance(0.1)) modulus.fill(0);
  if (prng.chance(0.1)) modulus.fill(255);
  if (prng.chance(0.3)) modulus.fill(0, prng.below(modulus.length + 1));
  if (prng.chance(0.2)) modulus.fill(0, 0, prng.below(modulus.length + 1));
  if (modulus.length > 0 && prng.chance(0.5)) modulus[modulus.length - 1]! |= 1;
  const sizes = [base, exponent, modulus].map(({ length }) => word(BigInt(length)));
  const full = Buffer.concat([...sizes, base, exponent, modulus]);
  return prng.chance(0.1) ? full.subarray(0, prng.below(full.length)) : full;
}

function drawBlake2f(prng: Prng): Uint8Array {
  const input = prng.bytes(prng.chance(0.95) ? 213 : prng.pick([0, 212, 214]));
  input.set([0, 0, 0, prng.below(40)].slice(0, input.length));
  if (input.length === 213) input[212] = prng.pick([0, 1, 0, 1, 0, 1, 2]);
  return input;
}

function drawBnPairs(prng: Prng): Uint8Array {
  const pairs: Uint8Array[] = prng.chance(0.6) ? [inputs.bnBilinearPairs(prng)] : [];
  for (let index = prng.below(3); index > 0; index--) {
    const g2 = prng.chance(0.06) ? inputs.bnG2OutsideSubgroup(prng) : inputs.bnG2(prng);
    const g1 = inputs.bnG1(prng);
    pairs.push(g1, g2);
    if (prng.chance(0.5)) pairs.push(inputs.negatedBnG1(g1), g2);
  }
  return spoilt(prng, Buffer.concat(pairs), BN_PRIME, 32);
}

function drawBlsPairs(prng: Prng): Uint8Array {
  const pairs: Uint8Array[] = prng.chance(0.6) ? [inputs.blsBilinearPairs(prng)] : [];
  for (let index = prng.below(3); index > 0; index--) {
    const g1 = prng.chance(0.06) ? inputs.blsG1OutsideSubgroup(prng) : inputs.blsG1(prng);
    const g2 = prng.chance(0.06) ? inputs.blsG2OutsideSubgroup(prng) : inputs.blsG2(prng);
    pairs.push(g1, g2);
    if (prng.chance(0.6)) pairs.push(inputs.negatedBlsG1(g1), g2);
  }
  return spoilt(prng, Buffer.concat(pairs), BLS_PRIME, 64);
}

function drawTerms(
  prng: Prng,
  point: (prng: Prng) => Uint8Array,
  outside: (prng: Prng) => Uint8Array,
): Uint8Array {
  const terms: Uint8Array[] = [];
  for (let index = prng.pick([0, 0, 1, 1, 2, 5]); index >= 0; index--) {
    terms.push(prng.chance(0.04) ? outside(prng) : point(prng));
    terms.push(word(randomScalar(prng, BLS_ORDER)));
  }
  return spoilt(prng, Buffer.concat(terms), BLS_PRIME, 64);
}

function drawField(prng: Prng): Uint8Array {
  const edges = [0n, 1n, BLS_PRIME - 1n, BLS_PRIME];
  const drawn = inputs.randomBelow(prng, BLS_PRIME);
  return word(prng.chance(0.3) ? prng.pick(edges) : drawn, 64);
}

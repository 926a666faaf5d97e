/** Points and numbers for the curve precompiles, well-formed and otherwise, from a seed. */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import type { Prng } from "../../../../src/base/prng.ts";

export type Affine<Field> = { readonly x: Field; readonly y: Field };
type Fp2 = { readonly c0: bigint; readonly c1: bigint };

export const BN_PRIME = bn254.fields.Fp.ORDER;
export const BN_ORDER = bn254.fields.Fr.ORDER;
export const BLS_PRIME = bls12_381.fields.Fp.ORDER;
export const BLS_ORDER = bls12_381.fields.Fr.ORDER;

export function word(value: bigint, size = 32): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(size * 2, "0"), "hex"));
}

export function randomBelow(prng: Prng, limit: bigint): bigint {
  return BigInt(`0x${Buffer.from(prng.bytes(64)).toString("hex")}`) % limit;
}

/** Zero, one, the order and its neighbours, all ones, and numbers of every magnitude. */
export function randomScalar(prng: Prng, order: bigint): bigint {
  const edges = [0n, 1n, 2n, order - 1n, order, order + 1n, (1n << 256n) - 1n, 1n << 128n];
  if (prng.chance(0.4)) return prng.pick(edges);
  return randomBelow(prng, 1n << BigInt(prng.between(1, 256)));
}

function nonZero(prng: Prng, order: bigint): bigint {
  return 1n + randomBelow(prng, order - 1n);
}

export function bnG1(prng: Prng): Uint8Array {
  if (prng.chance(0.15)) return new Uint8Array(64);
  const { x, y } = bn254.G1.Point.BASE.multiplyUnsafe(nonZero(prng, BN_ORDER)).toAffine();
  return Buffer.concat([word(x), word(y)]);
}

export function negatedBnG1(point: Uint8Array): Uint8Array {
  const y = BigInt(`0x${Buffer.from(point.subarray(32)).toString("hex")}`);
  return Buffer.concat([point.subarray(0, 32), word(y === 0n ? 0n : BN_PRIME - y)]);
}

function encodeBnG2({ x, y }: Affine<Fp2>): Uint8Array {
  return Buffer.concat([word(x.c1), word(x.c0), word(y.c1), word(y.c0)]);
}

export function bnG2(prng: Prng): Uint8Array {
  if (prng.chance(0.15)) return new Uint8Array(128);
  return encodeBnG2(bn254.G2.Point.BASE.multiplyUnsafe(nonZero(prng, BN_ORDER)).toAffine());
}

/** On the twist, but of the wrong order. */
export function bnG2OutsideSubgroup(prng: Prng): Uint8Array {
  const { Fp2 } = bn254.fields;
  const right = (x: Fp2): Fp2 => Fp2.add(Fp2.mul(Fp2.sqr(x), x), bn254.G2.Point.CURVE().b);
  return encodeBnG2(randomPoint(prng, BN_PRIME, Fp2, right));
}

/** e(aP, bQ) e(-abP, Q): one if the pairing is bilinear, and only then. */
export function bnBilinearPairs(prng: Prng): Uint8Array {
  const [a, b] = [nonZero(prng, BN_ORDER), nonZero(prng, BN_ORDER)];
  const g1 = (k: bigint): Uint8Array => {
    const { x, y } = bn254.G1.Point.BASE.multiplyUnsafe(k).toAffine();
    return Buffer.concat([word(x), word(y)]);
  };
  const { BASE } = bn254.G2.Point;
  const image = encodeBnG2(BASE.multiplyUnsafe(b).toAffine());
  const product = BN_ORDER - ((a * b) % BN_ORDER);
  return Buffer.concat([g1(a), image, g1(product), encodeBnG2(BASE.toAffine())]);
}

export function blsBilinearPairs(prng: Prng): Uint8Array {
  const [a, b] = [nonZero(prng, BLS_ORDER), nonZero(prng, BLS_ORDER)];
  const g1 = (k: bigint): Uint8Array =>
    encodeBlsG1(bls12_381.G1.Point.BASE.multiplyUnsafe(k).toAffine());
  const { BASE } = bls12_381.G2.Point;
  const image = encodeBlsG2(BASE.multiplyUnsafe(b).toAffine());
  const product = BLS_ORDER - ((a * b) % BLS_ORDER);
  return Buffer.concat([g1(a), image, g1(product), encodeBlsG2(BASE.toAffine())]);
}

function encodeBlsG1({ x, y }: Affine<bigint>): Uint8Array {
  return Buffer.concat([word(x, 64), word(y, 64)]);
}

function encodeBlsG2({ x, y }: Affine<Fp2>): Uint8Array {
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map((coordinate) => word(coordinate, 64)));
}

export function blsG1(prng: Prng): Uint8Array {
  if (prng.chance(0.15)) return new Uint8Array(128);
  return encodeBlsG1(bls12_381.G1.Point.BASE.multiplyUnsafe(nonZero(prng, BLS_ORDER)).toAffine());
}

export function blsG2(prng: Prng): Uint8Array {
  if (prng.chance(0.15)) return new Uint8Array(256);
  return encodeBlsG2(bls12_381.G2.Point.BASE.multiplyUnsafe(nonZero(prng, BLS_ORDER)).toAffine());
}

export function blsG1OutsideSubgroup(prng: Prng): Uint8Array {
  const { Fp } = bls12_381.fields;
  for (;;) {
    const x = randomBelow(prng, BLS_PRIME);
    const square = Fp.add(Fp.mul(Fp.sqr(x), x), 4n);
    const y = rootOf(() => Fp.sqrt(square));
    if (y !== undefined) return encodeBlsG1({ x, y });
  }
}

export function blsG2OutsideSubgroup(prng: Prng): Uint8Array {
  const { Fp2 } = bls12_381.fields;
  const four = Fp2.fromBigTuple([4n, 4n]);
  return encodeBlsG2(
    randomPoint(prng, BLS_PRIME, Fp2, (x) => Fp2.add(Fp2.mul(Fp2.sqr(x), x), four)),
  );
}

type QuadraticField = {
  fromBigTuple(tuple: [bigint, bigint]): Fp2;
  sqrt(value: Fp2): Fp2;
};

function randomPoint(
  prng: Prng,
  prime: bigint,
  field: QuadraticField,
  right: (x: Fp2) => Fp2,
): Affine<Fp2> {
  for (;;) {
    const x = field.fromBigTuple([randomBelow(prng, prime), randomBelow(prng, prime)]);
    const y = rootOf(() => field.sqrt(right(x)));
    if (y !== undefined) return { x, y };
  }
}

function rootOf<Value>(root: () => Value): Value | undefined {
  try {
    return root();
  } catch {
    return undefined;
  }
}

export function negatedBlsG1(point: Uint8Array): Uint8Array {
  const y = BigInt(`0x${Buffer.from(point.subarray(64)).toString("hex")}`);
  return Buffer.concat([point.subarray(0, 64), word(y === 0n ? 0n : BLS_PRIME - y, 64)]);
}

/** Now and then one bit, one coordinate or the length is spoilt. */
export function spoilt(prng: Prng, input: Uint8Array, prime: bigint, size: number): Uint8Array {
  const changed = input.slice();
  switch (prng.below(12)) {
    case 0:
      if (changed.length > 0) changed[prng.below(changed.length)]! ^= 1 << prng.below(8);
      return changed;
    case 1:
      if (changed.length >= 2 * size) changed.set(word(prime, size), size * prng.below(2));
      return changed;
    case 2:
      return changed.subarray(0, prng.below(changed.length + 1));
    case 3:
      return Buffer.concat([changed, prng.bytes(prng.between(1, 40))]);
    case 4:
      if (changed.length >= size) changed.set(word(prime + 1n, size), 0);
      return changed;
    default:
      return changed;
  }
}

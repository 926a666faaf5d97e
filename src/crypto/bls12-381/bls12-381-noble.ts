import { bls12_381 } from "@noble/curves/bls12-381.js";
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import type { Bls12 } from "./bls12-381-rules.ts";
import { verifyKzgProofSlowly } from "./kzg-noble.ts";

const { Fp, Fp2, Fp12, Fr } = bls12_381.fields;
const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;

// The library's types say that these give coordinates and that G1 takes a list. They give points in
// the subgroup, and G1 takes a lone element.
const mapToG1 = bls12_381.G1.mapToCurve as unknown as (u: bigint) => G1Point;
const mapToG2 = bls12_381.G2.mapToCurve as unknown as (u: bigint[]) => G2Point;

const G1_SIZE = 128;
const G2_SIZE = 256;
const SCALAR_SIZE = 32;
const G1_TERM_SIZE = G1_SIZE + SCALAR_SIZE;
const G2_TERM_SIZE = G2_SIZE + SCALAR_SIZE;
const PAIR_SIZE = 384;

/** The slow way, for machines that cannot run bls12-381-engine.ts, and to compare that with. */
export const NOBLE_BLS12: Bls12 = {
  addG1,
  addG2,
  multiplySumG1,
  multiplySumG2,
  pairingCheck,
  mapToG1: mapFieldToG1,
  mapToG2: mapFieldToG2,
  verifyKzgProof: verifyKzgProofSlowly,
};

function addG1(input: Uint8Array): Uint8Array | undefined {
  const a = decodeG1(input.subarray(0, G1_SIZE));
  const b = decodeG1(input.subarray(G1_SIZE));
  return a === undefined || b === undefined ? undefined : encodeG1(a.add(b));
}

function addG2(input: Uint8Array): Uint8Array | undefined {
  const a = decodeG2(input.subarray(0, G2_SIZE));
  const b = decodeG2(input.subarray(G2_SIZE));
  return a === undefined || b === undefined ? undefined : encodeG2(a.add(b));
}

function multiplySumG1(input: Uint8Array): Uint8Array | undefined {
  let sum = G1.ZERO;
  for (let offset = 0; offset < input.length; offset += G1_TERM_SIZE) {
    const point = decodeG1(input.subarray(offset, offset + G1_SIZE));
    if (point?.isTorsionFree() !== true) return undefined;
    const scalar = Fr.create(readBigEndian(input, offset + G1_SIZE, SCALAR_SIZE));
    if (scalar !== 0n) sum = sum.add(point.multiplyUnsafe(scalar));
  }
  return encodeG1(sum);
}

function multiplySumG2(input: Uint8Array): Uint8Array | undefined {
  let sum = G2.ZERO;
  for (let offset = 0; offset < input.length; offset += G2_TERM_SIZE) {
    const point = decodeG2(input.subarray(offset, offset + G2_SIZE));
    if (point?.isTorsionFree() !== true) return undefined;
    const scalar = Fr.create(readBigEndian(input, offset + G2_SIZE, SCALAR_SIZE));
    if (scalar !== 0n) sum = sum.add(point.multiplyUnsafe(scalar));
  }
  return encodeG2(sum);
}

/** Whether the product of the pairings of the given (G1, G2) pairs, 384 bytes each, is one. */
function pairingCheck(input: Uint8Array): boolean | undefined {
  const pairs: { g1: G1Point; g2: G2Point }[] = [];
  for (let offset = 0; offset < input.length; offset += PAIR_SIZE) {
    const g1 = decodeG1(input.subarray(offset, offset + G1_SIZE));
    const g2 = decodeG2(input.subarray(offset + G1_SIZE, offset + PAIR_SIZE));
    if (g1?.isTorsionFree() !== true || g2?.isTorsionFree() !== true) return undefined;
    if (!g1.is0() && !g2.is0()) pairs.push({ g1, g2 });
  }
  if (pairs.length === 0) return true;
  return Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE);
}

function mapFieldToG1(input: Uint8Array): Uint8Array | undefined {
  const u = decodeFp(input);
  return u === undefined ? undefined : encodeG1(mapToG1(u));
}

function mapFieldToG2(input: Uint8Array): Uint8Array | undefined {
  const u0 = decodeFp(input.subarray(0, 64));
  const u1 = decodeFp(input.subarray(64));
  if (u0 === undefined || u1 === undefined) return undefined;
  return encodeG2(mapToG2([u0, u1]));
}

/** A field element in 64 bytes; what does not fit below the prime is refused, not reduced. */
function decodeFp(bytes: Uint8Array): bigint | undefined {
  const value = readBigEndian(bytes, 0, bytes.length);
  return value < Fp.ORDER ? value : undefined;
}

function decodeG1(bytes: Uint8Array): G1Point | undefined {
  const x = decodeFp(bytes.subarray(0, 64));
  const y = decodeFp(bytes.subarray(64));
  if (x === undefined || y === undefined) return undefined;
  if (x === 0n && y === 0n) return G1.ZERO;
  if (Fp.sqr(y) !== Fp.add(Fp.mul(Fp.sqr(x), x), 4n)) return undefined;
  return G1.fromAffine({ x, y });
}

function decodeG2(bytes: Uint8Array): G2Point | undefined {
  const x0 = decodeFp(bytes.subarray(0, 64));
  const x1 = decodeFp(bytes.subarray(64, 128));
  const y0 = decodeFp(bytes.subarray(128, 192));
  const y1 = decodeFp(bytes.subarray(192));
  if (x0 === undefined || x1 === undefined) return undefined;
  if (y0 === undefined || y1 === undefined) return undefined;
  if (x0 === 0n && x1 === 0n && y0 === 0n && y1 === 0n) return G2.ZERO;
  const x = Fp2.fromBigTuple([x0, x1]);
  const y = Fp2.fromBigTuple([y0, y1]);
  const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), Fp2.fromBigTuple([4n, 4n]));
  return Fp2.eql(Fp2.sqr(y), right) ? G2.fromAffine({ x, y }) : undefined;
}

function encodeG1(point: G1Point): Uint8Array {
  const bytes = new Uint8Array(G1_SIZE);
  if (point.is0()) return bytes;
  const { x, y } = point.toAffine();
  writeBigEndian(x, bytes, 0, 64);
  writeBigEndian(y, bytes, 64, 64);
  return bytes;
}

function encodeG2(point: G2Point): Uint8Array {
  const bytes = new Uint8Array(G2_SIZE);
  if (point.is0()) return bytes;
  const { x, y } = point.toAffine();
  writeBigEndian(x.c0, bytes, 0, 64);
  writeBigEndian(x.c1, bytes, 64, 64);
  writeBigEndian(y.c0, bytes, 128, 64);
  writeBigEndian(y.c1, bytes, 192, 64);
  return bytes;
}

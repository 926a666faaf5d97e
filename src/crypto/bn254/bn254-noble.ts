import { bn254 } from "@noble/curves/bn254.js";
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import type { Bn254 } from "./bn254-rules.ts";

const { Fp, Fp2, Fp12, Fr } = bn254.fields;
const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;

/** The slow way, for machines that cannot run bn254-engine.ts, and to compare that with. */
export const NOBLE_BN254: Bn254 = {
  add(points) {
    const left = decodeG1(points.subarray(0, 64));
    const right = decodeG1(points.subarray(64, 128));
    if (left === undefined || right === undefined) return undefined;
    return encodeG1(left.add(right));
  },

  multiply(point, scalar) {
    const decoded = decodeG1(point);
    if (decoded === undefined) return undefined;
    const factor = Fr.create(readBigEndian(scalar, 0, scalar.length));
    return encodeG1(factor === 0n ? G1.ZERO : decoded.multiplyUnsafe(factor));
  },

  pairingCheck(pairs) {
    const decoded: { g1: G1Point; g2: G2Point }[] = [];
    for (let offset = 0; offset < pairs.length; offset += 192) {
      const g1 = decodeG1(pairs.subarray(offset, offset + 64));
      const g2 = decodeG2(pairs.subarray(offset + 64, offset + 192));
      if (g1 === undefined || g2 === undefined) return undefined;
      if (!g1.is0() && !g2.is0()) decoded.push({ g1, g2 });
    }
    if (decoded.length === 0) return true;
    return Fp12.eql(bn254.pairingBatch(decoded), Fp12.ONE);
  },
};

function decodeG1(bytes: Uint8Array): G1Point | undefined {
  const x = readBigEndian(bytes, 0, 32);
  const y = readBigEndian(bytes, 32, 32);
  if (x >= Fp.ORDER || y >= Fp.ORDER) return undefined;
  if (x === 0n && y === 0n) return G1.ZERO;
  if (Fp.sqr(y) !== Fp.add(Fp.mul(Fp.sqr(x), x), 3n)) return undefined;
  return G1.fromAffine({ x, y });
}

function decodeG2(bytes: Uint8Array): G2Point | undefined {
  const [x1 = 0n, x0 = 0n, y1 = 0n, y0 = 0n] = [0, 32, 64, 96].map((offset) =>
    readBigEndian(bytes, offset, 32),
  );
  if ([x0, x1, y0, y1].some((coordinate) => coordinate >= Fp.ORDER)) return undefined;
  if ([x0, x1, y0, y1].every((coordinate) => coordinate === 0n)) return G2.ZERO;
  const point = G2.fromAffine({
    x: Fp2.fromBigTuple([x0, x1]),
    y: Fp2.fromBigTuple([y0, y1]),
  });
  try {
    point.assertValidity();
  } catch {
    return undefined;
  }
  return point.isTorsionFree() ? point : undefined;
}

function encodeG1(point: G1Point): Uint8Array {
  const bytes = new Uint8Array(64);
  const { x, y } = point.toAffine();
  if (point.is0()) return bytes;
  writeBigEndian(x, bytes, 0, 32);
  writeBigEndian(y, bytes, 32, 32);
  return bytes;
}

import { bls12_381 } from "@noble/curves/bls12-381.js";
import { readBigEndian } from "../../base/big-endian.ts";

const { Fp12, Fr } = bls12_381.fields;
const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
type G1Point = InstanceType<typeof G1>;

/** The secret of Ethereum's KZG ceremony times the generator of G2: all that a verifier needs. */
export const TAU_G2 = G2.fromHex(
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d" +
    "2914e5870cb452d2afaaab24f3499f72" +
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b" +
    "087041de621000edc98edada20c1def2",
);

/** Whether the committed polynomial has value y at z. False for anything malformed. */
export function verifyKzgProofSlowly(
  commitment: Uint8Array,
  z: Uint8Array,
  y: Uint8Array,
  proof: Uint8Array,
): boolean {
  const point = readBigEndian(z, 0, z.length);
  const value = readBigEndian(y, 0, y.length);
  if (point >= Fr.ORDER || value >= Fr.ORDER) return false;
  const committed = decompressG1(commitment);
  const quotient = decompressG1(proof);
  if (committed === undefined || quotient === undefined) return false;
  // e(C - y + z Q, 1) = e(Q, tau): the form whose G2 sides are both constant.
  const left = committed.subtract(times(G1.BASE, value)).add(times(quotient, point));
  const pairs = [
    { g1: left, g2: G2.BASE },
    { g1: quotient.negate(), g2: TAU_G2 },
  ].filter(({ g1 }) => !g1.is0());
  return pairs.length === 0 || Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE);
}

function times(point: G1Point, scalar: bigint): G1Point {
  return scalar === 0n ? G1.ZERO : point.multiplyUnsafe(scalar);
}

function decompressG1(bytes: Uint8Array): G1Point | undefined {
  try {
    const point = G1.fromBytes(bytes);
    if (point.is0()) return point;
    point.assertValidity();
    return point.isTorsionFree() ? point : undefined;
  } catch {
    return undefined;
  }
}

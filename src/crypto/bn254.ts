/**
 * alt_bn128 on encoded points (EIP-196, EIP-197); undefined is an input that is refused. The curve
 * is compiled while this module loads, so that every thread that can import it has it ready.
 */
import { MclCurve } from "./mcl/mcl-curve.ts";
import { FR_SIZE, G1_SIZE, loadMclModule, MCL_BN254 } from "./mcl/mcl-module.ts";

const curve = new MclCurve(await loadMclModule(MCL_BN254), {
  fieldSize: 32,
  paddedSize: 32,
  isFieldLittleEndian: true,
  isImaginaryFirst: true,
});
const left = curve.allocateForever(G1_SIZE);
const right = curve.allocateForever(G1_SIZE);
const factor = curve.allocateForever(FR_SIZE);

/** The sum of two points in a row. */
export function bn254Add(points: Uint8Array): Uint8Array | undefined {
  if (!curve.readG1(left, points, 0) || !curve.readG1(right, points, 64)) return undefined;
  curve.module._mclBnG1_add(left, left, right);
  return curve.encodeG1(left);
}

/** A point times any 256-bit number, which counts modulo the order of the group. */
export function bn254Multiply(input: Uint8Array): Uint8Array | undefined {
  if (!curve.readG1(left, input, 0)) return undefined;
  curve.readScalar(factor, input, 64);
  curve.module._mclBnG1_mul(left, left, factor);
  return curve.encodeG1(left);
}

/** Whether the product of the pairings of the (G1, G2) pairs, 192 bytes each, is one. */
export function bn254PairingCheck(pairs: Uint8Array): boolean | undefined {
  // All points of G1's curve are in the group.
  return curve.run(() => curve.isPairingProductOne(pairs, false));
}

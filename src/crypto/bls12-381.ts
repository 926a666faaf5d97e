/** The operations of EIP-2537 on encoded points; undefined is an input that is refused. */
import { invariant } from "../base/invariant.ts";
import { bls12Curve as curve } from "./mcl/bls12-381-curve.ts";
import { FP_SIZE, FR_SIZE, G1_SIZE, G2_SIZE } from "./mcl/mcl-module.ts";

const G1_BYTES = 128;
const G2_BYTES = 256;
const SCALAR_BYTES = 32;

const { module } = curve;

/** The points may be outside the subgroup. */
export function bls12AddG1(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const [left, right] = [curve.allocate(G1_SIZE), curve.allocate(G1_SIZE)];
    if (!curve.readG1(left, input, 0) || !curve.readG1(right, input, G1_BYTES)) return undefined;
    module._mclBnG1_add(left, left, right);
    return curve.encodeG1(left);
  });
}

export function bls12AddG2(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const [left, right] = [curve.allocate(G2_SIZE), curve.allocate(G2_SIZE)];
    if (!curve.readG2(left, input, 0) || !curve.readG2(right, input, G2_BYTES)) return undefined;
    module._mclBnG2_add(left, left, right);
    return curve.encodeG2(left);
  });
}

/** The sum of points times scalars, (G1, scalar) in a row; at least one. */
export function bls12MultiplySumG1(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const count = input.length / (G1_BYTES + SCALAR_BYTES);
    const points = curve.allocate(count * G1_SIZE);
    const scalars = curve.allocate(count * FR_SIZE);
    for (let index = 0; index < count; index++) {
      const offset = index * (G1_BYTES + SCALAR_BYTES);
      const point = points + index * G1_SIZE;
      if (!curve.readG1(point, input, offset)) return undefined;
      if (module._mclBnG1_isValidOrder(point) !== 1) return undefined;
      curve.readScalar(scalars + index * FR_SIZE, input, offset + G1_BYTES);
    }
    const sum = curve.allocate(G1_SIZE);
    module._mclBnG1_mulVec(sum, points, scalars, count);
    return curve.encodeG1(sum);
  });
}

export function bls12MultiplySumG2(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const count = input.length / (G2_BYTES + SCALAR_BYTES);
    const points = curve.allocate(count * G2_SIZE);
    const scalars = curve.allocate(count * FR_SIZE);
    for (let index = 0; index < count; index++) {
      const offset = index * (G2_BYTES + SCALAR_BYTES);
      const point = points + index * G2_SIZE;
      if (!curve.readG2(point, input, offset)) return undefined;
      if (module._mclBnG2_isValidOrder(point) !== 1) return undefined;
      curve.readScalar(scalars + index * FR_SIZE, input, offset + G2_BYTES);
    }
    const sum = curve.allocate(G2_SIZE);
    module._mclBnG2_mulVec(sum, points, scalars, count);
    return curve.encodeG2(sum);
  });
}

/** Whether the product of the pairings of the (G1, G2) pairs, 384 bytes each, is one. */
export function bls12PairingCheck(input: Uint8Array): boolean | undefined {
  return curve.run(() => curve.isPairingProductOne(input, true));
}

export function bls12MapToG1(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const element = curve.allocate(FP_SIZE);
    const point = curve.allocate(G1_SIZE);
    if (!curve.readField(element, input, 0)) return undefined;
    invariant(module._mclBnFp_mapToG1(point, element) === 0, "every field element has an image");
    return curve.encodeG1(point);
  });
}

export function bls12MapToG2(input: Uint8Array): Uint8Array | undefined {
  return curve.run(() => {
    const element = curve.allocate(2 * FP_SIZE);
    const point = curve.allocate(G2_SIZE);
    if (!curve.readQuadratic(element, input, 0)) return undefined;
    invariant(module._mclBnFp2_mapToG2(point, element) === 0, "every field element has an image");
    return curve.encodeG2(point);
  });
}

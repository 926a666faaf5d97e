import { MclCurve } from "./mcl-curve.ts";
import { loadMclModule, MCL_BLS12_381 } from "./mcl-module.ts";

/** Compiled while this module loads: every thread that can import the curve has it ready. */
export const bls12Curve: MclCurve = new MclCurve(await loadMclModule(MCL_BLS12_381), {
  fieldSize: 48,
  paddedSize: 64,
  isFieldLittleEndian: false,
  isImaginaryFirst: false,
});

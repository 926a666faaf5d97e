/**
 * One instance of mcl compiled to WebAssembly (docs/adr/0004), through its C interface (mcl/bn.h).
 * The package's own JavaScript classes share one instance, which knows one curve at a time; the
 * precompiles need two curves side by side.
 */
import createModule from "mcl-wasm/dist/mcl_c.js";
import { invariant } from "../../base/invariant.ts";

/** Addresses are numbers in the instance's memory; predicates answer 1 or 0. */
export type MclModule = {
  readonly wasmMemory: { readonly buffer: ArrayBuffer };
  _malloc(size: number): number;
  _free(address: number): void;

  _mclBn_init(curve: number, compiledSizes: number): number;
  _mclBn_setETHserialization(isOn: number): void;
  _mclBn_setMapToMode(mode: number): number;
  _mclBn_verifyOrderG1(isOn: number): void;
  _mclBn_verifyOrderG2(isOn: number): void;

  /** These answer how many bytes were read, 0 for a number that is not below the modulus. */
  _mclBnFp_deserialize(target: number, bytes: number, size: number): number;
  _mclBnFr_deserialize(target: number, bytes: number, size: number): number;
  _mclBnG1_deserialize(target: number, bytes: number, size: number): number;
  _mclBnG2_deserialize(target: number, bytes: number, size: number): number;
  _mclBnFp_serialize(bytes: number, sizeMax: number, source: number): number;
  _mclBnFr_setBigEndianMod(target: number, bytes: number, size: number): number;
  _mclBnFp_setInt32(target: number, value: number): void;
  _mclBnFr_neg(target: number, source: number): void;

  _mclBnG1_clear(target: number): void;
  _mclBnG1_isZero(point: number): number;
  _mclBnG1_isValid(point: number): number;
  _mclBnG1_isValidOrder(point: number): number;
  _mclBnG1_normalize(target: number, source: number): void;
  _mclBnG1_neg(target: number, source: number): void;
  _mclBnG1_add(target: number, left: number, right: number): void;
  _mclBnG1_mul(target: number, point: number, scalar: number): void;
  _mclBnG1_mulVec(target: number, points: number, scalars: number, count: number): void;
  _mclBnFp_mapToG1(target: number, element: number): number;

  _mclBnG2_clear(target: number): void;
  _mclBnG2_isZero(point: number): number;
  _mclBnG2_isValid(point: number): number;
  _mclBnG2_isValidOrder(point: number): number;
  _mclBnG2_normalize(target: number, source: number): void;
  _mclBnG2_add(target: number, left: number, right: number): void;
  _mclBnG2_mulVec(target: number, points: number, scalars: number, count: number): void;
  _mclBnFp2_mapToG2(target: number, element: number): number;

  _mclBn_millerLoopVec(target: number, g1: number, g2: number, count: number): void;
  _mclBn_getUint64NumToPrecompute(): number;
  _mclBn_precomputeG2(target: number, point: number): void;
  _mclBn_precomputedMillerLoop2(
    target: number,
    left: number,
    leftLines: number,
    right: number,
    rightLines: number,
  ): void;
  _mclBn_finalExp(target: number, source: number): void;
  _mclBnGT_isOne(element: number): number;
};

/** Numbers of mcl/curve_type.h. */
export const MCL_BN254 = 4;
export const MCL_BLS12_381 = 5;

/** Bytes of mcl's structures in memory, as large as the largest curve it was compiled for needs. */
export const FP_SIZE = 48;
export const FR_SIZE = 32;
export const G1_SIZE = 3 * FP_SIZE;
export const G2_SIZE = 6 * FP_SIZE;
export const GT_SIZE = 12 * FP_SIZE;

/** The library compares this with the sizes that it was compiled with. */
const COMPILED_SIZES = (FR_SIZE / 8) * 10 + FP_SIZE / 8;
/** Hashing to curves as in RFC 9380, whose maps EIP-2537 prescribes. */
const MAP_RFC_9380 = 5;

/**
 * Compiling is asynchronous in the package, so callers wait for this while their module loads:
 * code that can import a curve finds it ready.
 */
export async function loadMclModule(curve: number): Promise<MclModule> {
  const loaded: unknown = await createModule({ cryptoGetRandomValues: refuseRandomness });
  const module = loaded as MclModule;
  invariant(module._mclBn_init(curve, COMPILED_SIZES) === 0, "mcl has the curve and our sizes");
  if (curve === MCL_BLS12_381) {
    // Numbers big-endian, points with the flags of the Zcash protocol. For this curve only.
    module._mclBn_setETHserialization(1);
    invariant(module._mclBn_setMapToMode(MAP_RFC_9380) === 0, "mcl has the maps of RFC 9380");
  }
  // `isValid` asks for the curve only; `isValidOrder` is asked apart, where the EIPs demand it.
  module._mclBn_verifyOrderG1(0);
  module._mclBn_verifyOrderG2(0);
  return module;
}

/** Nothing here is secret: what asks for randomness would make replicas differ. */
function refuseRandomness(): never {
  throw new Error("the curves of the precompiles draw no randomness");
}

/** The check of KZG proofs for EIP-4844: two pairings whose G2 sides are constant. */
import { hexToBytes } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import { bls12Curve as curve } from "./mcl/bls12-381-curve.ts";
import { FR_SIZE, G1_SIZE, G2_SIZE, GT_SIZE } from "./mcl/mcl-module.ts";

const { module } = curve;

const G1_GENERATOR =
  "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58" +
  "6c55e83ff97a1aeffb3af00adb22c6bb";
const G2_GENERATOR =
  "0x93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049" +
  "334cf11213945d57e5ac7d055d042b7e" +
  "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d177" +
  "0bac0326a805bbefd48056c8c121bdb8";
/** The secret of Ethereum's KZG ceremony times the generator of G2: all that a verifier needs. */
const TAU_G2 =
  "0xb5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d" +
  "2914e5870cb452d2afaaab24f3499f72" +
  "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b" +
  "087041de621000edc98edada20c1def2";

const generator = curve.allocateForever(G1_SIZE);
invariant(curve.readCompressedG1(generator, hexToBytes(G1_GENERATOR)), "the generator is a point");
const generatorLines = precomputeLines(G2_GENERATOR);
const tauLines = precomputeLines(TAU_G2);

/** Whether the committed polynomial has value y at z. False for anything malformed. */
export function verifyKzgProof(
  commitment: Uint8Array,
  z: Uint8Array,
  y: Uint8Array,
  proof: Uint8Array,
): boolean {
  return curve.run(() => {
    const [committed, quotient] = [curve.allocate(G1_SIZE), curve.allocate(G1_SIZE)];
    const points = curve.allocate(2 * G1_SIZE);
    const scalars = curve.allocate(2 * FR_SIZE);
    if (!curve.readCanonicalScalar(scalars, y)) return false;
    if (!curve.readCanonicalScalar(scalars + FR_SIZE, z)) return false;
    for (const [point, bytes] of [
      [committed, commitment],
      [quotient, proof],
    ] as const) {
      if (!curve.readCompressedG1(point, bytes)) return false;
      if (module._mclBnG1_isValidOrder(point) !== 1) return false;
    }
    // e(C - y + z Q, 1) = e(Q, tau)
    module._mclBnFr_neg(scalars, scalars);
    curve.copy(points, generator, G1_SIZE);
    curve.copy(points + G1_SIZE, quotient, G1_SIZE);
    const sum = curve.allocate(G1_SIZE);
    module._mclBnG1_mulVec(sum, points, scalars, 2);
    module._mclBnG1_add(sum, sum, committed);
    module._mclBnG1_neg(quotient, quotient);
    return isProductOne(sum, quotient);
  });
}

function isProductOne(left: number, right: number): boolean {
  const product = curve.allocate(GT_SIZE);
  module._mclBn_precomputedMillerLoop2(product, left, generatorLines, right, tauLines);
  module._mclBn_finalExp(product, product);
  return module._mclBnGT_isOne(product) === 1;
}

/** The part of a pairing that depends on the G2 side only. */
function precomputeLines(compressed: string): number {
  return curve.run(() => {
    const point = curve.allocate(G2_SIZE);
    const isPoint = curve.readCompressedG2(point, hexToBytes(compressed));
    invariant(isPoint, "the constant is a point");
    const lines = curve.allocateForever(8 * module._mclBn_getUint64NumToPrecompute());
    module._mclBn_precomputeG2(lines, point);
    return lines;
  });
}

import {
  bls12AddG1,
  bls12AddG2,
  bls12MapToG1,
  bls12MapToG2,
  bls12MultiplySumG1,
  bls12MultiplySumG2,
  bls12PairingCheck,
} from "../../crypto/bls12-381.ts";
import type { Precompile } from "../precompile.ts";
import { G1_SHARES, G2_SHARES, multiScalarGas } from "./bls12-381-gas.ts";

const FIELD_SIZE = 64;
const G1_SIZE = 128;
const G2_SIZE = 256;
const SCALAR_SIZE = 32;
const G1_TERM_SIZE = G1_SIZE + SCALAR_SIZE;
const G2_TERM_SIZE = G2_SIZE + SCALAR_SIZE;
const PAIR_SIZE = G1_SIZE + G2_SIZE;

/** 0x0b. Additions do not ask whether the points are in the subgroup (EIP-2537). */
export const bls12G1Add: Precompile = {
  name: "bls12G1Add",
  gasCost: () => 375,
  run: (input) => (input.length === 2 * G1_SIZE ? bls12AddG1(input) : undefined),
};

/** 0x0c. */
export const bls12G1MultiScalar: Precompile = {
  name: "bls12G1Msm",
  gasCost: (input) => multiScalarGas(Math.floor(input.length / G1_TERM_SIZE), 12_000, G1_SHARES),
  run: (input) => (isList(input, G1_TERM_SIZE) ? bls12MultiplySumG1(input) : undefined),
};

/** 0x0d. */
export const bls12G2Add: Precompile = {
  name: "bls12G2Add",
  gasCost: () => 600,
  run: (input) => (input.length === 2 * G2_SIZE ? bls12AddG2(input) : undefined),
};

/** 0x0e. */
export const bls12G2MultiScalar: Precompile = {
  name: "bls12G2Msm",
  gasCost: (input) => multiScalarGas(Math.floor(input.length / G2_TERM_SIZE), 22_500, G2_SHARES),
  run: (input) => (isList(input, G2_TERM_SIZE) ? bls12MultiplySumG2(input) : undefined),
};

/** 0x0f. */
export const bls12Pairing: Precompile = {
  name: "bls12Pairing",
  gasCost: (input) => 37_700 + 32_600 * Math.floor(input.length / PAIR_SIZE),
  run(input) {
    if (!isList(input, PAIR_SIZE)) return undefined;
    const holds = bls12PairingCheck(input);
    if (holds === undefined) return undefined;
    const word = new Uint8Array(32);
    if (holds) word[31] = 1;
    return word;
  },
};

/** 0x10. */
export const mapToG1: Precompile = {
  name: "bls12MapFpToG1",
  gasCost: () => 5500,
  run: (input) => (input.length === FIELD_SIZE ? bls12MapToG1(input) : undefined),
};

/** 0x11. */
export const mapToG2: Precompile = {
  name: "bls12MapFp2ToG2",
  gasCost: () => 23_800,
  run: (input) => (input.length === 2 * FIELD_SIZE ? bls12MapToG2(input) : undefined),
};

/** Multi-scalar multiplication and pairing refuse an empty list, unlike bn254's pairing. */
function isList(input: Uint8Array, itemSize: number): boolean {
  return input.length > 0 && input.length % itemSize === 0;
}

import { bn254Add, bn254Multiply, bn254PairingCheck } from "../../crypto/bn254.ts";
import type { Precompile } from "../precompile.ts";
import { inputWindow } from "./input-window.ts";

const POINT_SIZE = 64;
const SCALAR_SIZE = 32;
const PAIR_SIZE = 192;

/** 0x06: sum of two points of alt_bn128 (EIP-196). */
export const bn254AddPoints: Precompile = {
  name: "bn254Add",
  gasCost: () => 150,
  run: (input) => bn254Add(inputWindow(input, 0, 2 * POINT_SIZE)),
};

/** 0x07: a point times a scalar that may be any 256-bit number (EIP-196). */
export const bn254MultiplyPoint: Precompile = {
  name: "bn254Multiply",
  gasCost: () => 6000,
  run: (input) => bn254Multiply(inputWindow(input, 0, POINT_SIZE + SCALAR_SIZE)),
};

/** 0x08: whether the product of pairings is one (EIP-197). */
export const bn254Pairing: Precompile = {
  name: "bn254Pairing",
  gasCost: (input) => 45_000 + 34_000 * Math.floor(input.length / PAIR_SIZE),
  run(input) {
    if (input.length % PAIR_SIZE !== 0) return undefined;
    const holds = bn254PairingCheck(input);
    if (holds === undefined) return undefined;
    const word = new Uint8Array(32);
    if (holds) word[31] = 1;
    return word;
  },
};

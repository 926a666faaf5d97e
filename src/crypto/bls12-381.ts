import { Bls12Engine } from "./bls12-381/bls12-381-engine.ts";
import { NOBLE_BLS12 } from "./bls12-381/bls12-381-noble.ts";
import type { Bls12 } from "./bls12-381/bls12-381-rules.ts";
import { isFusedArithmetic } from "./pairing/fused-arithmetic.ts";

let curve: Bls12 | undefined;

/** The fast one, or where the machine cannot run it the slow one. Built at first use. */
export function loadBls12(): Bls12 {
  curve ??= isFusedArithmetic() ? new Bls12Engine() : NOBLE_BLS12;
  return curve;
}

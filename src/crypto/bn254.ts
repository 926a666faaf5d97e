import { Bn254Engine } from "./bn254/bn254-engine.ts";
import { NOBLE_BN254 } from "./bn254/bn254-noble.ts";
import type { Bn254 } from "./bn254/bn254-rules.ts";
import { isFusedArithmetic } from "./pairing/fused-arithmetic.ts";

let curve: Bn254 | undefined;

/** The fast one, or where the machine cannot run it the slow one. Built at first use. */
export function loadBn254(): Bn254 {
  curve ??= isFusedArithmetic() ? new Bn254Engine() : NOBLE_BN254;
  return curve;
}

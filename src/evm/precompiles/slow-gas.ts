/**
 * What a call of a precompile counts as slow work of its block (docs/adr/0010). Gas prices were set
 * for native code; per gas, these take longer than all opcodes. One unit is a gas of ecrecover,
 * about 20 ns where the table was measured (`npm run bench -- precompiles`). The count is a rule of the
 * chain: replicas that count differently build different blocks.
 */
import type { Precompile } from "../precompile.ts";
import { modexpIterations } from "./modexp.ts";

const MODEXP = 0x05n;

/** Units per gas. sha256, ripemd160 and identity keep pace with the opcodes and count nothing. */
const FACTORS: ReadonlyMap<bigint, number> = new Map([
  [0x01n, 1], // ecrecover
  [MODEXP, 1], // and its iterations
  [0x06n, 2], // bn254 addition
  [0x07n, 2], // bn254 multiplication
  [0x08n, 3], // bn254 pairing
  [0x09n, 1], // blake2f
  [0x0an, 6], // KZG point evaluation
  [0x0bn, 2], // BLS12-381 G1 addition
  [0x0cn, 4], // G1 multi-scalar multiplication
  [0x0dn, 2], // G2 addition
  [0x0en, 3], // G2 multi-scalar multiplication
  [0x0fn, 3], // pairing
  [0x10n, 2], // map to G1
  [0x11n, 2], // map to G2
]);

/** A squaring of short numbers costs next to no gas, but as much time as one of longer numbers. */
const MODEXP_ITERATION = 8;

/** The count for an input; undefined for a precompile that is not slow. */
export function slowGasOf(
  address: bigint,
  precompile: Precompile,
): ((input: Uint8Array) => number) | undefined {
  const factor = FACTORS.get(address);
  if (factor === undefined) return undefined;
  if (address !== MODEXP) return (input) => factor * precompile.gasCost(input);
  return (input) => {
    const { iterations, words } = modexpIterations(input);
    return factor * precompile.gasCost(input) + iterations * (MODEXP_ITERATION + words);
  };
}

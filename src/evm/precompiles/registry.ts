import type { Precompile } from "../precompile.ts";
import { blake2f } from "./blake2f.ts";
import {
  bls12G1Add,
  bls12G1MultiScalar,
  bls12G2Add,
  bls12G2MultiScalar,
  mapToG1,
  mapToG2,
  bls12Pairing,
} from "./bls12-381.ts";
import { bn254AddPoints, bn254MultiplyPoint, bn254Pairing } from "./bn254.ts";
import { ecrecover } from "./ecrecover.ts";
import { identity } from "./identity.ts";
import { kzgPointEvaluation } from "./kzg-point-evaluation.ts";
import { modularExponentiation } from "./modexp.ts";
import { ripemd160Hash } from "./ripemd160.ts";
import { sha256Hash } from "./sha256.ts";

/** The precompiles of a fork, by address. */
export function precompilesOf(fork: "cancun" | "prague"): ReadonlyMap<bigint, Precompile> {
  return fork === "cancun" ? CANCUN : PRAGUE;
}

const CANCUN: ReadonlyMap<bigint, Precompile> = new Map([
  [0x01n, ecrecover],
  [0x02n, sha256Hash],
  [0x03n, ripemd160Hash],
  [0x04n, identity],
  [0x05n, modularExponentiation],
  [0x06n, bn254AddPoints],
  [0x07n, bn254MultiplyPoint],
  [0x08n, bn254Pairing],
  [0x09n, blake2f],
  [0x0an, kzgPointEvaluation],
]);

const PRAGUE: ReadonlyMap<bigint, Precompile> = new Map([
  ...CANCUN,
  [0x0bn, bls12G1Add],
  [0x0cn, bls12G1MultiScalar],
  [0x0dn, bls12G2Add],
  [0x0en, bls12G2MultiScalar],
  [0x0fn, bls12Pairing],
  [0x10n, mapToG1],
  [0x11n, mapToG2],
]);

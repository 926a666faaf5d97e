/**
 * EIP-2537 as it stood in April 2024, when the files of stEIP2537 were made: nine precompiles from
 * 0x0b on, with a single multiplication beside each multi-scalar one, and other prices. Prague as
 * it went live has seven, at other addresses, so those files cannot run under its rules; their
 * curve vectors hold all the same. Here they run our functions at the draft's addresses.
 */
import type { Precompile } from "../../src/evm/precompile.ts";
import {
  bls12G1Add,
  bls12G1MultiScalar,
  bls12G2Add,
  bls12G2MultiScalar,
  mapToG1,
  mapToG2,
  bls12Pairing,
} from "../../src/evm/precompiles/bls12-381.ts";
import { precompilesOf } from "../../src/evm/precompiles/registry.ts";
import { asObject, asText, type JsonObject } from "./fixture-data.ts";

const G1_PAIR_SIZE = 160;
const G2_PAIR_SIZE = 288;
const PAIRING_SIZE = 384;
const G1_MULTIPLY_GAS = 12_000;
const G2_MULTIPLY_GAS = 45_000;

/** Whether the file was filled before the draft changed (the client's version ends in a date). */
export function isDraftPrague(test: JsonObject): boolean {
  const filler = asObject(test["_info"] ?? {})["filling-rpc-server"];
  const date = /-(20\d{6})$/.exec(filler === undefined ? "" : asText(filler))?.[1];
  return date !== undefined && date < "20240601";
}

/** In thousandths, by the number of pairs. */
const DISCOUNTS: readonly number[] = [
  1200, 888, 764, 641, 594, 547, 500, 453, 438, 423, 408, 394, 379, 364, 349, 334, 330, 326, 322,
  318, 314, 310, 306, 302, 298, 294, 289, 285, 281, 277, 273, 269, 268, 266, 265, 263, 262, 260,
  259, 257, 256, 254, 253, 251, 250, 248, 247, 245, 244, 242, 241, 239, 238, 236, 235, 233, 232,
  231, 229, 228, 226, 225, 223, 222, 221, 220, 219, 219, 218, 217, 216, 216, 215, 214, 213, 213,
  212, 211, 211, 210, 209, 208, 208, 207, 206, 205, 205, 204, 203, 202, 202, 201, 200, 199, 199,
  198, 197, 196, 196, 195, 194, 193, 193, 192, 191, 191, 190, 189, 188, 188, 187, 186, 185, 185,
  184, 183, 182, 182, 181, 180, 179, 179, 178, 177, 176, 176, 175, 174,
];

export const DRAFT_PRAGUE_PRECOMPILES: ReadonlyMap<bigint, Precompile> = new Map([
  ...precompilesOf("cancun"),
  [0x0bn, priced(bls12G1Add, () => 500)],
  [0x0cn, single(bls12G1MultiScalar, G1_PAIR_SIZE, G1_MULTIPLY_GAS)],
  [0x0dn, priced(bls12G1MultiScalar, multiScalarGas(G1_PAIR_SIZE, G1_MULTIPLY_GAS))],
  [0x0en, priced(bls12G2Add, () => 800)],
  [0x0fn, single(bls12G2MultiScalar, G2_PAIR_SIZE, G2_MULTIPLY_GAS)],
  [0x10n, priced(bls12G2MultiScalar, multiScalarGas(G2_PAIR_SIZE, G2_MULTIPLY_GAS))],
  [0x11n, priced(bls12Pairing, (size) => 65_000 + 43_000 * Math.floor(size / PAIRING_SIZE))],
  [0x12n, priced(mapToG1, () => 5_500)],
  [0x13n, priced(mapToG2, () => 75_000)],
]);

function priced(precompile: Precompile, gas: (size: number) => number): Precompile {
  const { name } = precompile;
  return { name, gasCost: ({ length }) => gas(length), run: (input) => precompile.run(input) };
}

/** The sum of one product. */
function single(precompile: Precompile, pairSize: number, gas: number): Precompile {
  return {
    name: precompile.name,
    gasCost: () => gas,
    run: (input) => (input.length === pairSize ? precompile.run(input) : undefined),
  };
}

function multiScalarGas(pairSize: number, multiplyGas: number): (size: number) => number {
  return (size) => {
    const count = Math.floor(size / pairSize);
    if (count === 0) return 0;
    const discount = DISCOUNTS[Math.min(count, DISCOUNTS.length) - 1] ?? 0;
    return Math.floor((count * multiplyGas * discount) / 1000);
  };
}

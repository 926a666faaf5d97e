/**
 * What each precompile costs in CPU time per gas, on the dearest input of its kind that we know.
 * A block of 60,000,000 gas must take less than a second: 16.7 ns per gas.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { Prng } from "../src/base/prng.ts";
import { sha256 } from "../src/crypto/sha256.ts";
import { sign } from "../src/crypto/secp256k1.ts";
import { precompilesOf } from "../src/evm/precompiles/registry.ts";

const NS_PER_GAS_MAX = 1000 / 60;
/** Gas of warm call, its arguments and a jump, which no call of a precompile can avoid. */
const CALL_GAS = 120;
const SAMPLE_MS = 60;
const SAMPLE_COUNT = 3;

type Case = { readonly name: string; readonly address: bigint; readonly input: Uint8Array };

export function benchPrecompiles(): void {
  const rows = [["operation", "gas", "CPU us", "ns/gas", "ns/gas with call"]];
  for (const { name, address, input } of createCases(new Prng(1))) {
    const precompile = precompilesOf("prague").get(address);
    if (precompile === undefined) continue;
    const gas = precompile.gasCost(input);
    if (precompile.run(input) === undefined) throw new Error(`${name}: the input is refused`);
    const us = cpuMicroseconds(() => precompile.run(input));
    const withCall = (us * 1000) / (gas + CALL_GAS);
    const mark = withCall > NS_PER_GAS_MAX ? " !" : "";
    const perGas = (us * 1000) / gas;
    rows.push([
      name,
      String(gas),
      us.toFixed(2),
      perGas.toFixed(1),
      `${withCall.toFixed(1)}${mark}`,
    ]);
  }
  printTable(rows);
}

/** The least of some samples: other processes on the machine only ever add. */
function cpuMicroseconds(run: () => unknown): number {
  sample(run, SAMPLE_MS);
  const samples = Array.from({ length: SAMPLE_COUNT }, () => sample(run, SAMPLE_MS));
  return Math.min(...samples);
}

function sample(run: () => unknown, milliseconds: number): number {
  const start = process.cpuUsage();
  let count = 0;
  for (let batch = 1; ; batch *= 2) {
    for (let index = 0; index < batch; index++) run();
    count += batch;
    const { user, system } = process.cpuUsage(start);
    if (user + system > milliseconds * 1000) return (user + system) / count;
  }
}

function createCases(prng: Prng): readonly Case[] {
  return [
    ...createHashCases(prng),
    ...createModexpCases(prng),
    ...createBn254Cases(prng),
    ...createBls12Cases(prng),
  ];
}

function createHashCases(prng: Prng): readonly Case[] {
  const hash = prng.bytes(32);
  const { signature, recoveryId } = sign(hash, new Uint8Array(32).fill(7));
  const recover = join(hash, word(BigInt(27 + recoveryId)), signature);
  const blake = (rounds: number): Uint8Array => {
    const input = prng.bytes(213);
    new DataView(input.buffer).setUint32(0, rounds);
    input[212] = 1;
    return input;
  };
  return [
    { name: "ecrecover", address: 1n, input: recover },
    { name: "sha256 of nothing", address: 2n, input: new Uint8Array(0) },
    { name: "sha256 of 100 kB", address: 2n, input: prng.bytes(100_000) },
    { name: "ripemd160 of nothing", address: 3n, input: new Uint8Array(0) },
    { name: "ripemd160 of 100 kB", address: 3n, input: prng.bytes(100_000) },
    { name: "identity of nothing", address: 4n, input: new Uint8Array(0) },
    { name: "identity of 100 kB", address: 4n, input: prng.bytes(100_000) },
    { name: "blake2f, 1 round", address: 9n, input: blake(1) },
    { name: "blake2f, 1,000,000 rounds", address: 9n, input: blake(1_000_000) },
  ];
}

function createModexpCases(prng: Prng): readonly Case[] {
  const create = (size: number, exponentSize: number, isEven: boolean): Case => {
    const modulus = prng.bytes(size);
    modulus[0] = 0xff;
    modulus[size - 1] = isEven ? 0x80 : 0xff;
    const sizes = [size, exponentSize, size].map((value) => word(BigInt(value)));
    const exponent = new Uint8Array(exponentSize).fill(0xff);
    const kind = isEven ? "even" : "odd";
    return {
      name: `modexp, ${size} bytes ${kind}, exponent ${exponentSize}`,
      address: 5n,
      input: join(...sizes, prng.bytes(size), exponent, modulus),
    };
  };
  const sizes: readonly (readonly [number, number])[] = [
    [1, 32],
    [8, 32],
    [8, 1000],
    [16, 32],
    [24, 32],
    [32, 1],
    [32, 32],
    [48, 32],
    [64, 32],
    [96, 32],
    [128, 32],
    [256, 32],
    [512, 32],
    [1024, 32],
  ];
  const odd = sizes.map(([size, exponentSize]) => create(size, exponentSize, false));
  return [...odd, create(32, 32, true), create(64, 32, true), create(256, 32, true)];
}

function createBn254Cases(prng: Prng): readonly Case[] {
  const { G1, G2 } = bn254;
  const g1 = (): Uint8Array => {
    const { x, y } = G1.Point.BASE.multiplyUnsafe(scalarOf(prng)).toAffine();
    return join(word(x), word(y));
  };
  const g2 = (): Uint8Array => {
    const { x, y } = G2.Point.BASE.multiplyUnsafe(scalarOf(prng)).toAffine();
    return join(word(x.c1), word(x.c0), word(y.c1), word(y.c0));
  };
  const scalar = new Uint8Array(32).fill(0xff);
  return [
    { name: "bn254 add", address: 6n, input: join(g1(), g1()) },
    { name: "bn254 multiply", address: 7n, input: join(g1(), scalar) },
    ...[1, 2, 20].map((count) => ({
      name: `bn254 pairing, ${count} pairs`,
      address: 8n,
      input: join(...repeat(count, () => join(g1(), g2()))),
    })),
  ];
}

function createBls12Cases(prng: Prng): readonly Case[] {
  const { G1, G2 } = bls12_381;
  const g1 = (): Uint8Array => {
    const { x, y } = G1.Point.BASE.multiplyUnsafe(scalarOf(prng)).toAffine();
    return join(word(x, 64), word(y, 64));
  };
  const g2 = (): Uint8Array => {
    const { x, y } = G2.Point.BASE.multiplyUnsafe(scalarOf(prng)).toAffine();
    return join(...[x.c0, x.c1, y.c0, y.c1].map((value) => word(value, 64)));
  };
  const scalar = new Uint8Array(32).fill(0xff);
  const field = (): Uint8Array => join(new Uint8Array(17), prng.bytes(47));
  const counts = [1, 2, 16, 128];
  return [
    { name: "KZG point evaluation", address: 10n, input: createKzgInput(prng) },
    { name: "bls12 G1 add", address: 11n, input: join(g1(), g1()) },
    ...counts.map((count) => ({
      name: `bls12 G1 MSM, ${count} terms`,
      address: 12n,
      input: join(...repeat(count, () => join(g1(), scalar))),
    })),
    { name: "bls12 G2 add", address: 13n, input: join(g2(), g2()) },
    ...counts.map((count) => ({
      name: `bls12 G2 MSM, ${count} terms`,
      address: 14n,
      input: join(...repeat(count, () => join(g2(), scalar))),
    })),
    ...[1, 2, 20].map((count) => ({
      name: `bls12 pairing, ${count} pairs`,
      address: 15n,
      input: join(...repeat(count, () => join(g1(), g2()))),
    })),
    { name: "bls12 map to G1", address: 16n, input: field() },
    { name: "bls12 map to G2", address: 17n, input: join(field(), field()) },
  ];
}

/** A proof for the polynomial a x + b, whose quotient is the number a. */
function createKzgInput(prng: Prng): Uint8Array {
  const { Point } = bls12_381.G1;
  const tau = Point.fromHex(
    "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42" +
      "d25926fc0c97b336e9f0fb35e5a04c81",
  );
  const [a, b, z] = [scalarOf(prng), scalarOf(prng), scalarOf(prng)];
  const commitment = tau.multiplyUnsafe(a).add(Point.BASE.multiplyUnsafe(b)).toBytes();
  const hash = sha256(commitment).slice();
  hash[0] = 1;
  const y = (a * z + b) % bls12_381.fields.Fr.ORDER;
  return join(hash, word(z), word(y), commitment, Point.BASE.multiplyUnsafe(a).toBytes());
}

/** Below the order of either group. */
function scalarOf(prng: Prng): bigint {
  return BigInt(`0x${Buffer.from(prng.bytes(31)).toString("hex")}`) + 1n;
}

function repeat(count: number, create: () => Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: count }, create);
}

function word(value: bigint, size = 32): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(size * 2, "0"), "hex"));
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(cells.join(" | "));
  }
}

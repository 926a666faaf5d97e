/** Snippets that call precompiles with input that is often valid, so that both paths are walked. */
import { bytesToHex } from "../../../src/base/hex.ts";
import type { Prng } from "../../../src/base/prng.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { sign } from "../../../src/crypto/secp256k1.ts";
import { type Assembler, OP } from "./assembler.ts";
import { callGas, extent, type ProgramContext, sink } from "./program-parts.ts";

const BN254_P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const BLS_P =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;
const BLS_G1: readonly bigint[] = [
  0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bbn,
  0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1n,
];
const BLS_G2: readonly bigint[] = [
  0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8n,
  0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7en,
  0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801n,
  0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79ben,
];

/** Address of the precompile, how often it is drawn, and its input. */
const PRECOMPILES: readonly (readonly [
  address: number,
  weight: number,
  input: (prng: Prng) => Uint8Array,
])[] = [
  [1, 4, recoverInput],
  [2, 4, (prng) => prng.bytes(prng.below(100))],
  [3, 3, (prng) => prng.bytes(prng.below(100))],
  [4, 4, (prng) => prng.bytes(prng.below(100))],
  [5, 6, modexpInput],
  [6, 4, (prng) => words(32, bnPoint(prng), bnPoint(prng))],
  [7, 3, (prng) => words(32, bnPoint(prng), [scalar(prng)])],
  [9, 4, blake2Input],
  [11, 1, (prng) => words(64, g1Point(prng), g1Point(prng))],
  [12, 1, (prng) => multiplyInput(prng, g1Point(prng))],
  [13, 1, (prng) => words(64, g2Point(prng), g2Point(prng))],
  [16, 1, (prng) => words(64, [fieldElement(prng)])],
];
const WEIGHT_SUM = PRECOMPILES.reduce((sum, [, weight]) => sum + weight, 0);

export function precompileCall(code: Assembler, { prng }: ProgramContext): void {
  let left = prng.below(WEIGHT_SUM);
  const [address, , makeInput] = PRECOMPILES.find(([, weight]) => (left -= weight) < 0)!;
  const input = prng.chance(0.1) ? prng.bytes(prng.below(200)) : makeInput(prng);
  for (let offset = 0; offset < input.length; offset += 32) {
    const chunk = new Uint8Array(32);
    chunk.set(input.subarray(offset, offset + 32));
    code
      .push(BigInt(bytesToHex(chunk)))
      .push(offset)
      .op(OP.MSTORE);
  }
  const size = prng.chance(0.1) ? prng.below(input.length + 40) : input.length;
  code.push(extent(prng)).push(extent(prng)).push(size).push(0);
  const opcode = prng.pick([OP.CALL, OP.STATICCALL, OP.DELEGATECALL, OP.CALLCODE]);
  if (opcode === OP.CALL || opcode === OP.CALLCODE) code.push(prng.chance(0.1) ? 1 : 0);
  code.push(address);
  callGas(code, prng);
  code.op(opcode);
  sink(code, prng);
  // The output counts: its hash goes to storage.
  code.op(OP.RETURNDATASIZE).push(0).push(0).op(OP.RETURNDATACOPY);
  code.op(OP.RETURNDATASIZE).push(0).op(OP.KECCAK256).push(3).op(OP.SSTORE);
}

function words(size: number, ...groups: readonly (readonly bigint[])[]): Uint8Array {
  const all = groups.flat();
  const bytes = new Uint8Array(size * all.length);
  all.forEach((word, index) => writeWord(bytes, size * index, size, word));
  return bytes;
}

function writeWord(bytes: Uint8Array, offset: number, size: number, word: bigint): void {
  for (let index = size - 1; index >= 0; index--, word >>= 8n) {
    bytes[offset + index] = Number(word & 0xffn);
  }
}

function recoverInput(prng: Prng): Uint8Array {
  const hash = keccak256(prng.bytes(4));
  const key = new Uint8Array(32).fill(prng.between(1, 5));
  const { signature, recoveryId } = sign(hash, key);
  const input = new Uint8Array(128);
  input.set(hash);
  input[63] = 27 + (prng.chance(0.1) ? prng.below(4) : recoveryId);
  input.set(signature, 64);
  if (prng.chance(0.1)) input[prng.below(128)] = prng.below(256);
  return input;
}

function modexpInput(prng: Prng): Uint8Array {
  const sizes = [0, 1, 2].map(() => (prng.chance(0.1) ? 0 : prng.below(70)));
  const body = prng.bytes(sizes.reduce((sum, size) => sum + size, 0));
  const input = new Uint8Array(96 + body.length);
  sizes.forEach((size, index) => writeWord(input, 32 * index, 32, BigInt(size)));
  if (prng.chance(0.05)) writeWord(input, 32 * prng.below(3), 32, BigInt(prng.uint32()));
  input.set(body, 96);
  return input;
}

function bnPoint(prng: Prng): readonly bigint[] {
  return prng.pick([
    [0n, 0n],
    [1n, 2n],
    [1n, BN254_P - 2n],
    [1n, 3n],
    [BN254_P, 0n],
  ]);
}

function scalar(prng: Prng): bigint {
  return prng.chance(0.5) ? BigInt(prng.below(20)) : BigInt(bytesToHex(prng.bytes(32)));
}

function blake2Input(prng: Prng): Uint8Array {
  const input = prng.bytes(prng.chance(0.05) ? 212 : 213);
  input.fill(0, 0, 3);
  input[212] = prng.below(prng.chance(0.1) ? 256 : 2);
  return input;
}

function g1Point(prng: Prng): readonly bigint[] {
  const [x = 0n, y = 0n] = BLS_G1;
  return prng.pick([
    [x, y],
    [x, BLS_P - y],
    [0n, 0n],
    [x, y + 1n],
    [x + BLS_P, y],
  ]);
}

function g2Point(prng: Prng): readonly bigint[] {
  return prng.pick([BLS_G2, BLS_G2, [0n, 0n, 0n, 0n], [1n, 2n, 3n, 4n]]);
}

function multiplyInput(prng: Prng, point: readonly bigint[]): Uint8Array {
  const input = new Uint8Array(160);
  input.set(words(64, point));
  writeWord(input, 128, 32, scalar(prng));
  return input;
}

function fieldElement(prng: Prng): bigint {
  return prng.pick([0n, 1n, BLS_P - 1n, BLS_P, BigInt(bytesToHex(prng.bytes(47)))]);
}

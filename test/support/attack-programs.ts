/** Programs that try to make a block take longer than its gas pays for. */
import { hexToBytes } from "../../src/base/hex.ts";

export type AttackProgram = {
  readonly name: string;
  readonly code: Uint8Array;
};

export const ATTACK_ADDRESS = 0xa77acn;
/** Returns 32 KiB of memory. */
export const BOMB_ADDRESS = 0xb0b0n;
export const BOMB_CODE: Uint8Array = hexToBytes("0x6180005ff3");
/** As large as code may be, all of it places to jump to. */
export const LARGE_ADDRESS = 0xb16n;
export const LARGE_CODE: Uint8Array = new Uint8Array(24_576).fill(0x5b);

/** Accounts with code lie at this address and above: what a large state offers to read. */
export const CROWD_ADDRESS = 0x1_0000_0000n;

const BYTES_1024 = "610400";
/** As many as the share of a block has room for: they count six times their 50,000 gas. */
const MIXED_CHECK_COUNT = 55;

/** Every program runs until its gas is used up, or nearly so. */
export const ATTACK_PROGRAMS: readonly AttackProgram[] = [
  loop("quadratic memory: MSTORE at MSIZE", "", "595952"),
  loop(
    "quadratic memory: one step near the limit, then reads",
    "5f621ffff052",
    "621f000051505f5150",
  ),
  loop("deep recursion: CALL itself with all gas", "", "5f5f5f5f5f305af150"),
  loop("deep recursion: CREATE itself", "", "385f5f39385f5ff050"),
  loop(
    "jumpdest bomb: CREATE of 48 KiB",
    "6160005f5f610b163c6160005f616000610b163c",
    "61c0005f5ff050",
  ),
  loop("24 KiB of JUMPDEST, called", "", "5f5f5f5f610b165afa50"),
  loop("returndata bomb: 32 KiB returned, copied", "", "5f5f5f5f61b0b05afa503d5f5f3e"),
  loop("EXTCODECOPY of 24 KiB", "", "6160005f5f610b163c"),
  loop("KECCAK256 of 32 KiB", "", "6180005f2050"),
  loop("MLOAD of a wide word", "5f195f52", "5f5150"),
  loop("SDIV of a negative word", `6f${"91".repeat(16)}7f${"a7".repeat(32)}`, "81810550"),
  loop("MULMOD of wide words", "5f1961123419", "81908009"),
  lastingLoop("LOG4 without data", "", "5f5f5f5f5f5fa4"),
  lastingLoop("LOG0 of 1 KiB", "", `${BYTES_1024}5fa0`),
  lastingLoop("SSTORE to fresh slots", "6001", "808055600101"),
  loop("SLOAD of cold slots", "6001", "805450600101"),
  loop("BALANCE of accounts of a large state", "640100000000", "803150600101"),
  loop("CALL of accounts of a large state", "640100000000", "5f5f5f5f5f855af150600101"),
  lastingLoop("CREATE of empty contracts", "", "5f5f5ff050"),
  lastingLoop(
    "CREATE2 of contracts that destroy themselves",
    "6130ff5f526001",
    "806002601e5ff550600101",
  ),
  loop("modexp: 32-byte base, exponent, modulus", modexpInput(32), "5f5f60e05f60055afa50"),
  loop(
    "modexp: 1 KiB base and modulus, small exponent",
    modexpInput(1024, 1),
    "5f5f6108615f60055afa50",
  ),
  loop("modexp: 64-byte exponent of ones", modexpInput(64), "5f5f6101205f60055afa50"),
];

const G1_X =
  "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905" +
  "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
const G1_Y =
  "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6" +
  "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1";
const G2_COORDINATES = [
  "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02" +
    "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
  "13e02b6052719f607dacd3a088274f65596bd0d09920b61a" +
    "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
  "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7" +
    "6d429a695160d12c923ac9cc3baca289e193548608b82801",
  "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af" +
    "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
];
const BN_G2 =
  "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2" +
  "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed" +
  "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b" +
  "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa";
const BLS_G1 = [G1_X, G1_Y].map((text) => text.padStart(128, "0")).join("");
const BLS_G2 = G2_COORDINATES.map((text) => text.padStart(128, "0")).join("");
/** The versioned hash of the generator of G1 as a commitment. */
const KZG_HASH = "01cf478a431837728dcec3461f4f53b8749cdc4e03496dcaed459dea82b82eb8";
/** A commitment with its versioned hash, and a proof that does not hold: it is checked in full. */
const KZG_INPUT =
  `${KZG_HASH}${"00".repeat(31)}07${"00".repeat(31)}09` + `97${G1_X.slice(2)}`.repeat(2);

/** Programs of nothing but slow precompiles: the block's share of slow work ends them. */
export const SLOW_PROGRAMS: readonly AttackProgram[] = [
  loop("KZG point evaluation", storeInput(KZG_INPUT), callPrecompile(10, 192, 50_000)),
  loop(
    "bn254 pairing of one pair",
    storeInput(`${"00".repeat(31)}01${"00".repeat(31)}02${BN_G2}`),
    callPrecompile(8, 192, 79_000),
  ),
  loop(
    "BLS12-381 pairing of one pair",
    storeInput(BLS_G1 + BLS_G2),
    callPrecompile(15, 384, 70_300),
  ),
  loop(
    "BLS12-381 G1 multiplication",
    storeInput(BLS_G1 + "ff".repeat(32)),
    callPrecompile(12, 160, 12_000),
  ),
  loop(
    "BLS12-381 G2 multiplication",
    storeInput(BLS_G2 + "ff".repeat(32)),
    callPrecompile(14, 288, 22_500),
  ),
  loop(
    "modexp: 8-byte base and modulus, 1,000-byte exponent",
    modexpInput(8, 1000),
    callPrecompile(5, 1112, 2700),
  ),
];

/** The whole share of the slowest kind, and the rest of the block of the slowest opcode. */
export const MIXED_PROGRAM: AttackProgram = mixed();

function mixed(): AttackProgram {
  const checks = callPrecompile(10, 192, 50_000).repeat(MIXED_CHECK_COUNT);
  const hash = "6180005f2050".repeat(8);
  // A storage slot says that an earlier transaction has used the share.
  const head = (target: number): string =>
    `${storeInput(KZG_INPUT)}5f54${push(target)}5760015f55${checks}`;
  const target = head(0).length / 2;
  const again = `6204e2005a11${push(target)}57`;
  return {
    name: "KZG point evaluations, then KECCAK256",
    code: hexToBytes(`0x${head(target)}5b${hash}${again}00`),
  };
}

/** STATICCALL with exactly the gas that the precompile costs: a failure burns no more. */
function callPrecompile(address: number, inputSize: number, gas: number): string {
  const gasDigits = gas.toString(16).padStart(6, "0");
  return `5f5f${push(inputSize)}5f${push(address)}62${gasDigits}fa50`;
}

function storeInput(hex: string): string {
  const words = hex.match(/.{1,64}/g) ?? [];
  return words.map((word, index) => `7f${word.padEnd(64, "0")}${push(32 * index)}52`).join("");
}

function loop(name: string, prologue: string, body: string): AttackProgram {
  const repeats = Math.max(1, Math.min(64, Math.floor(4000 / body.length)));
  const target = (prologue.length / 2).toString(16).padStart(4, "0");
  return { name, code: hexToBytes(`0x${prologue}5b${body.repeat(repeats)}61${target}56`) };
}

/** Stops before the gas is used up: what it wrote stays, and must be stored and rooted. */
function lastingLoop(name: string, prologue: string, body: string): AttackProgram {
  const target = (prologue.length / 2).toString(16).padStart(4, "0");
  const again = `6204e2005a1161${target}57`; // while more than 320,000 gas is left
  return { name, code: hexToBytes(`0x${prologue}5b${body.repeat(8)}${again}00`) };
}

/** Writes the three lengths and fills what follows with ones, but for the first of the base. */
function modexpInput(size: number, exponentSize = size): string {
  const stores = [size, exponentSize, size].map(
    (word, index) => push(word) + push(32 * index) + "52",
  );
  const words = Math.ceil((2 * size + exponentSize) / 32);
  const fill = Array.from({ length: words }, (_, index) => `80${push(96 + 32 * index)}52`);
  return `${stores.join("")}7f${"ff".repeat(32)}${fill.join("")}50607f606053`;
}

function push(value: number): string {
  const digits = value.toString(16).padStart(4, "0");
  return `61${digits}`;
}

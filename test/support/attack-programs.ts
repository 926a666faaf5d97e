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

/** Writes the three lengths and fills what follows with ones. */
function modexpInput(size: number, exponentSize = size): string {
  const stores = [size, exponentSize, size].map(
    (word, index) => push(word) + push(32 * index) + "52",
  );
  const words = Math.ceil((2 * size + exponentSize) / 32);
  const fill = Array.from({ length: words }, (_, index) => `80${push(96 + 32 * index)}52`);
  return `${stores.join("")}7f${"ff".repeat(32)}${fill.join("")}50`;
}

function push(value: number): string {
  const digits = value.toString(16).padStart(4, "0");
  return `61${digits}`;
}

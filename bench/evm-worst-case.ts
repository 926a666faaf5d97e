/**
 * How long the EVM takes per gas for loops of a single opcode with the operands that cost it most.
 * A block of 60,000,000 gas must run in a second: 16.6 nanoseconds per gas.
 */
import { hexToBytes } from "../src/base/hex.ts";
import { keccak256 } from "../src/crypto/keccak256.ts";
import { Evm } from "../src/evm/evm.ts";
import type { BlockContext } from "../src/evm/message.ts";
import { precompilesOf } from "../src/evm/precompiles/registry.ts";
import { bytesToWord } from "../src/evm/word.ts";
import type { Code } from "../src/evm/world-state.ts";
import { EMPTY_CODE } from "../src/state/account.ts";
import { Journal } from "../src/state/journal.ts";
import type { StateReader } from "../src/state/state-reader.ts";

export type WorstCase = {
  readonly name: string;
  readonly nanosecondsPerGas: number;
  /** The part of the gas that counts as slow work (docs/adr/0010). */
  readonly slowShare: number;
};

/**
 * Measures every loop; the slowest first. `gas` is spent on each after a warm-up of the same. Other
 * work on the machine only ever adds time, for seconds at a stretch: the loops take turns, and the
 * fastest of a loop's rounds is the truest.
 */
export function measureWorstCases(gas: number, only?: string): WorstCase[] {
  const cases = [...LOOPS.map(toProgram), ...FILLS.map(toFillProgram)]
    .filter(({ name }) => only === undefined || name.startsWith(only))
    .map((program) => {
      const slowShare = runProgram(program, gas) / gas;
      return { program, slowShare, nanosecondsPerGas: Infinity };
    });
  for (let round = 0; round < ROUNDS; round++) {
    for (const entry of cases) {
      const before = process.cpuUsage();
      runProgram(entry.program, gas);
      const { user, system } = process.cpuUsage(before);
      entry.nanosecondsPerGas = Math.min(entry.nanosecondsPerGas, ((user + system) * 1000) / gas);
    }
  }
  return cases
    .map(({ program: { name }, ...measured }) => ({ name, ...measured }))
    .sort((a, b) => b.nanosecondsPerGas - a.nanosecondsPerGas);
}

const ROUNDS = 7;
const CONTRACT = 0xc0den;
const CALLEE = 0xca11n;
const LARGE_CODE = 0xb16n;
const RANDOM_CODE = 0x4a2dn;
const HEIR = 0xde1n;
/** An address that is as wide as addresses are: ADDRESS gives it for 2 gas. */
const FILLER = 0xf111_e4f1_11e4_f111_e4f1_11e4_f111_e4f1_11e4_f111n;
const BLOCK: BlockContext = {
  number: 1000n,
  timestamp: 1_700_000_000n,
  coinbase: 0xc01n,
  gasLimit: 60_000_000n,
  baseFee: 7n,
  blobBaseFee: 1n,
  // As wide as words are, for 2 gas.
  prevRandao: 0xf1e2d3c4b5a697887f8e9dacbbcad9e8f70616253443526170a1b2c3d4e5f607n,
  blockHash: (number) => number,
};

const BIG_A = `7f${"f1e2d3c4b5a69788".repeat(4)}`;
const BIG_ODD = `7f${"f1e2d3c4b5a69787".repeat(4)}`;
const BIG_B = `7f${"9a8b7c6d5e4f3021".repeat(4)}`;
/** 192 bits: dividing by it takes the long way. */
const DIVISOR = `7f${"0".repeat(16)}${"8b7c6d5e4f302191".repeat(3)}`;

type Loop = readonly [name: string, prologue: string, body: string, repeats?: number];
type Fill = readonly [name: string, prologue: string, body: string, gas?: string];

/** Prologue and body in hexadecimal. The body leaves the stack as it found it. */
const LOOPS: readonly Loop[] = [
  ["JUMPDEST", "", "5b"],
  ["PUSH0 POP", "", "5f50"],
  ["PUSH32 POP", "", `${BIG_A}50`],
  ["DUP1 POP", BIG_A, "8050"],
  ["SWAP1", BIG_A + BIG_B, "90"],
  ["PC POP", "", "5850"],
  ["GAS POP", "", "5a50"],
  ["MSIZE POP", "", "5950"],
  ["ADD", BIG_A + BIG_B, "8101"],
  ["MUL", BIG_A + BIG_B, "8102"],
  ["SUB", BIG_A + BIG_B, "8103"],
  ["DIV", BIG_A + DIVISOR, "80820450"],
  ["SDIV", BIG_A + DIVISOR, "80820550"],
  ["MOD", BIG_A + DIVISOR, "80820650"],
  ["SMOD", BIG_A + DIVISOR, "80820750"],
  ["ADDMOD", DIVISOR + BIG_A + BIG_B, "8281830850"],
  ["MULMOD", DIVISOR + BIG_A + BIG_B, "8281830950"],
  ["MULMOD 256", BIG_B + BIG_A + BIG_B, "8281830950"],
  ["MULMOD chained", BIG_B + BIG_A, "81908009"],
  ["EXP", `${BIG_A}7f${"f".repeat(64)}`, "80820a50"],
  ["EXP odd", `${BIG_ODD}7f${"f".repeat(64)}`, "80820a50"],
  ["EXP one byte", `${BIG_ODD}60ff`, "80820a50"],
  ["EXP two bytes", `${BIG_ODD}61ffff`, "80820a50"],
  ["EXP three bytes", `${BIG_ODD}62ffffff`, "80820a50"],
  ["EXP five bytes", `${BIG_ODD}64ffffffffff`, "80820a50"],
  ["SIGNEXTEND", BIG_A, "80600e0b50"],
  ["ADD chained", BIG_A, "4401"],
  ["SUB chained", BIG_A, "4403"],
  ["MUL chained", BIG_ODD, "4402"],
  ["JUMP", "", "58600501565b"],
  ["JUMPI", "", "586005015890575b"],
  ["JUMPI not taken", "", "5f5f57"],
  ["LT", BIG_A + BIG_B, "81811050"],
  ["SLT", BIG_A + BIG_B, "81811250"],
  ["EQ", BIG_A + BIG_A, "81811450"],
  ["ISZERO", BIG_A, "15"],
  ["AND", BIG_A + BIG_B, "81811650"],
  ["NOT", BIG_A, "19"],
  ["BYTE", BIG_A, "80600e1a50"],
  ["SHL", BIG_A, "80607f1b50"],
  ["SHR", BIG_A, "80607f1c50"],
  ["SAR", BIG_A, "80607f1d50"],
  ["KECCAK256 0", "", "5f5f2050"],
  ["KECCAK256 32", "", "60205f2050"],
  ["KECCAK256 136", "", "60885f2050"],
  ["KECCAK256 24k", "", "6160005f2050"],
  ["ADDRESS", "", "3050"],
  ["BALANCE", "", "303150"],
  ["CALLDATALOAD", "", "5f3550"],
  ["CALLDATASIZE", "", "3650"],
  ["CALLDATACOPY 32", "", "60205f5f37"],
  ["CALLDATACOPY 4k", "", "6110005f5f37"],
  ["CALLDATALOAD at the end", "", "60213550"],
  ["CALLDATALOAD beyond", "", "443550"],
  ["CODESIZE", "", "3850"],
  ["CODECOPY 32", "", "60205f5f39"],
  ["CODECOPY 0", "", "5f5f5f39"],
  ["EXTCODECOPY 24k", "", `6160005f5f610b163c`],
  ["EXTCODECOPY 32", "", `60205f5f610b163c`],
  ["EXTCODESIZE", "", `610b163b50`],
  ["EXTCODEHASH", "", `610b163f50`],
  ["SELFBALANCE", "", "4750"],
  ["BLOCKHASH", "", "6103e74050"],
  ["TIMESTAMP", "", "4250"],
  ["RETURNDATASIZE", "", "3d50"],
  ["MLOAD", `${BIG_A}5f52`, "5f5150"],
  ["MLOAD short", `${BIG_A}601f52`, "60015150"],
  ["MLOAD unaligned", `${BIG_A}5f52${BIG_B}602052`, "60015150"],
  ["MSTORE and MLOAD of new words", BIG_A, "443080015f525f51"],
  ["MSTORE", BIG_A, "805f52"],
  ["MSTORE unaligned", BIG_A, "80600152"],
  ["MSTORE8", BIG_A, "805f53"],
  ["MCOPY 32", "5f60ff52", "602060015f5e"],
  ["MCOPY 4k", "5f61ffff52", "61100060015f5e"],
  ["memory growth", "", "595952", 1],
  ["SLOAD warm", "", "60015450"],
  ["SLOAD cold", "6001", "805450600101"],
  ["SLOAD cold, colliding", "6001", "8054506801000000000000000001"],
  ["SSTORE warm", "6001", "80600155"],
  ["SSTORE flip", "", "5f6001556001600155"],
  ["SSTORE cold", "6001", "808055600101"],
  ["TLOAD", "", "60015c50"],
  ["TSTORE", "6001", "8060015d"],
  ["TSTORE fresh", "6001", "80805d600101"],
  ["TSTORE colliding", "6001", "80805d6801000000000000000001"],
  ["LOG0", "", "5f5fa0"],
  ["LOG0 1k", "", "6104005fa0"],
  ["LOG1", "", "5f5f5fa1"],
  ["LOG2", "", "5f5f5f5fa2"],
  ["LOG3", "", "5f5f5f5f5fa3"],
  ["LOG4", "", "5f5f5f5f5f5fa4"],
  ["CALL no code", "", "5f5f5f5f5f61ffff5af150"],
  ["CALL fresh accounts", "62010000", "5f5f5f5f5f855af150600101"],
  ["CALL empty contract", "", `5f5f5f5f5f61ca115af150`],
  ["STATICCALL identity", "", "5f5f5f5f60045afa50"],
  ["STATICCALL identity 1k", "", "5f5f6104005f60045afa50"],
  ["STATICCALL sha256", "", "5f5f5f5f60025afa50"],
  ["STATICCALL sha256 1k", "", "5f5f6104005f60025afa50"],
  ["STATICCALL ripemd160", "", "5f5f5f5f60035afa50"],
  ["STATICCALL ripemd160 1k", "", "5f5f6104005f60035afa50"],
  ["RETURNDATACOPY 32", "5f5f60205f60045afa50", "60205f5f3e"],
  ["CALL self-destructing", "", "5f5f5f5f5f610de15af150"],
  ["DELEGATECALL contract", "", `5f5f5f5f61ca115af450`],
  ["CALL value", "", `5f5f5f5f600161ca115af150`],
  ["CALL itself", "", "5f5f5f5f5f305af150", 1],
  ["CREATE empty", "", "5f5f5ff050"],
  ["CREATE jumpdests 48k", `6160005f5f610b163c6160005f616000610b163c`, "61c0005f5ff050"],
  ["CREATE2", "5f", "805f5f5ff550600101"],
  ["CREATE self-destructing", "6130ff5f52", "6002601e5ff050"],
];

/** Leaves 12,288 to 20,479 gas, never the same: less than there are bytes to read. */
const GAS_AS_OFFSET = "5a611fff1661300001";

/**
 * What is left on the stack need not be popped: a contract that is called fills its stack and ends.
 * The body leaves one item more. It gets 24 KiB of random calldata, and GAS as an offset into it.
 */
const FILLS: readonly Fill[] = [
  ["GAS", "", "5a"],
  ["PUSH32", "", BIG_A],
  ["DIV", "", "304404"],
  ["SDIV", "", "304405"],
  ["MOD", "", "304406"],
  ["SMOD", "", "304407"],
  ["ADDMOD", "", "30444408"],
  ["MULMOD", "", "44444409"],
  ["SUB", "", "443003"],
  ["SHL", "", "445f1b"],
  ["SAR", "", "44601d1d"],
  ["SIGNEXTEND", "", "44600e0b"],
  ["BYTE", "", "445f1a"],
  ["CALLDATALOAD of a word", "", "5f35"],
  ["CALLDATALOAD of ever new words", "", "5a35", GAS_AS_OFFSET],
  ["MLOAD of ever new words", "6160005f5f37", "5a51", GAS_AS_OFFSET],
  ["KECCAK256 32", "445f52", "60205f20"],
  ["RETURNDATASIZE", "", "3d"],
];
const FILL_ITEMS = 1000;

type Program = { readonly name: string; readonly code: Uint8Array; readonly filler: Uint8Array };

function toProgram([name, prologue, body, repeats]: Loop): Program {
  return { name, code: loopCode(prologue, body, repeats ?? 64), filler: new Uint8Array(0) };
}

/** Copies random bytes to memory and calls on. */
function toFillProgram([name, prologue, body, gas = "5a"]: Fill): Program {
  const address = FILLER.toString(16).padStart(40, "0");
  const call = `5f5f6160005f73${address}${gas}fa50`;
  const code = loopCode("6160005f5f614a2d3c", call, 1);
  const filler = hexToBytes(`0x${prologue}${body.repeat(FILL_ITEMS)}00`);
  return { name: `${name}, left on the stack`, code, filler };
}

const RANDOM_BYTES = randomBytes(24_576);

function loopCode(prologue: string, body: string, repeats: number): Uint8Array {
  const start = prologue.length / 2;
  const target = start.toString(16).padStart(4, "0");
  return hexToBytes(`0x${prologue}5b${body.repeat(repeats)}61${target}56`);
}

/** The bytes look random, but they are the same in every run. */
function randomBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let offset = 0; offset < size; offset += 32) {
    bytes.set(keccak256(Uint8Array.of(offset >> 16, offset >> 8, offset)), offset);
  }
  return bytes;
}

/**
 * On a new state: a loop must not profit from what the last one created. Returns the gas that
 * counts as slow work.
 */
function runProgram({ code, filler }: Program, gas: number): number {
  const reader = new CodeReader();
  reader.set(CONTRACT, code);
  reader.set(CALLEE, Uint8Array.of(0x00));
  reader.set(LARGE_CODE, new Uint8Array(24_576).fill(0x5b));
  reader.set(RANDOM_CODE, RANDOM_BYTES);
  reader.set(HEIR, Uint8Array.of(0x30, 0xff));
  reader.set(FILLER, filler);
  const journal = new Journal(reader);
  const evm = new Evm(
    { fork: "prague", chainId: 1n },
    { world: journal, precompiles: precompilesOf("prague") },
  );
  journal.beginTransaction();
  journal.warmAddress(CONTRACT);
  const data = new Uint8Array(64).fill(7);
  const message = { kind: "call", caller: 1n, to: CONTRACT, value: 0n, data, gas } as const;
  evm.execute(message, { block: BLOCK, tx: { origin: 1n, gasPrice: 1n, blobHashes: [] } });
  journal.endTransaction();
  return evm.slowGas;
}

/** A state of nothing but code, and enough balance to send. */
class CodeReader implements StateReader {
  readonly #codes = new Map<bigint, Code>();
  readonly #hashes = new Map<bigint, bigint>();

  set(address: bigint, bytes: Uint8Array): void {
    const hash = bytesToWord(keccak256(bytes));
    this.#codes.set(hash, { bytes, hash });
    this.#hashes.set(address, hash);
  }

  account(address: bigint): ReturnType<StateReader["account"]> {
    const codeHash = this.#hashes.get(address);
    if (codeHash === undefined) return undefined;
    return { nonce: 1n, balance: 10n ** 30n, codeHash, storageRoot: 0n };
  }

  storage(): bigint {
    return 0n;
  }

  code(hash: bigint): Code {
    return this.#codes.get(hash) ?? EMPTY_CODE;
  }

  internCode(bytes: Uint8Array): Code {
    return { bytes, hash: bytesToWord(keccak256(bytes)) };
  }
}

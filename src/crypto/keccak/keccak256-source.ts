/**
 * The source of the Keccak-256 kernel in keccak256-wasm.ts: a test builds it anew and compares.
 *
 * The 25 lanes of the state live in locals. A pass of the inner loop does two rounds, from `A` to
 * `E` and back, so that no lane is copied. Six lanes are kept complemented through all rounds: then
 * the 25 complements of each round's chi step become 8 (the "lane complementing" of the Keccak
 * team's implementation overview).
 */
import {
  CONSTANTS_OFFSET,
  DIGEST_OFFSET,
  FLAG_FIRST,
  FLAG_LAST,
  INPUT_OFFSET,
  RATE,
  STATE_OFFSET,
} from "./keccak256-layout.ts";
import { encodeKernel, KernelCode } from "./keccak256-writer.ts";

const LANE_COUNT = 25;
const RATE_LANES = RATE / 8;
const ROUND_COUNT = 24;
const DIGEST_LANES = 4;
const COMPLEMENTED = [1, 2, 8, 12, 17, 20];

/** Locals: the two parameters, three i32, then the i64. */
const LENGTH = 0;
const FLAGS = 1;
const POINTER = 2;
const END = 3;
const CURSOR = 4;
const A = 5;
const E = A + LANE_COUNT;
const PARITY = E + LANE_COUNT;
const EFFECT = PARITY + 5;
const B = EFFECT + 5;
const LOCALS_END = B + 5;

export function buildKeccak256Module(): Uint8Array {
  const code = new KernelCode();
  writeInputEnd(code);
  writeStateLoad(code);
  code.i32(INPUT_OFFSET).set(POINTER);
  code.loop(); // over the blocks
  for (let lane = 0; lane < RATE_LANES; lane++) {
    code
      .get(A + lane)
      .get(POINTER)
      .load64(8 * lane)
      .xor()
      .set(A + lane);
  }
  code.i32(0).set(CURSOR);
  code.loop(); // over pairs of rounds
  writeRound(code, A, E, 0);
  writeRound(code, E, A, 8);
  code.get(CURSOR).i32(16).i32Add().tee(CURSOR);
  code
    .i32(8 * ROUND_COUNT)
    .i32Less()
    .branchIf(0)
    .end();
  code.get(POINTER).i32(RATE).i32Add().tee(POINTER).get(END).i32Less().branchIf(0).end();
  writeStateStore(code);
  return encodeKernel(
    {
      name: "absorb",
      i32ParameterCount: 2,
      i32LocalCount: A - POINTER,
      i64LocalCount: LOCALS_END - A,
      code,
    },
    { offset: CONSTANTS_OFFSET, bytes: roundConstants() },
  );
}

/** Sets END behind the last block. The last call's input is padded: 0x01, zeros, 0x80. */
function writeInputEnd(code: KernelCode): void {
  code.get(LENGTH).i32(INPUT_OFFSET).i32Add().set(END);
  code.get(FLAGS).i32(FLAG_LAST).i32And().if();
  code.get(END).set(CURSOR);
  code.get(LENGTH).i32(RATE).i32Divide().i32(1).i32Add().i32(RATE).i32Multiply();
  code.i32(INPUT_OFFSET).i32Add().set(END);
  // Whole words are written, up to 7 bytes past END: that memory is unused.
  code.get(CURSOR).i64(1n).store64(0);
  code.loop();
  code.get(CURSOR).i32(8).i32Add().tee(CURSOR).get(END).i32Less().if();
  code.get(CURSOR).i64(0n).store64(0).branch(1).end();
  code.end();
  code.get(END).i32(1).i32Subtract().tee(CURSOR);
  code.get(CURSOR).load8().i32(0x80).i32Or().store8();
  code.end();
}

function writeStateLoad(code: KernelCode): void {
  code.get(FLAGS).i32(FLAG_FIRST).i32And().if();
  for (let lane = 0; lane < LANE_COUNT; lane++) {
    code.i64(COMPLEMENTED.includes(lane) ? -1n : 0n).set(A + lane);
  }
  code.else();
  for (let lane = 0; lane < LANE_COUNT; lane++) {
    code
      .i32(STATE_OFFSET)
      .load64(8 * lane)
      .set(A + lane);
  }
  code.end();
}

function writeStateStore(code: KernelCode): void {
  code.get(FLAGS).i32(FLAG_LAST).i32And().if();
  for (let lane = 0; lane < DIGEST_LANES; lane++) {
    code.i32(DIGEST_OFFSET).get(A + lane);
    if (COMPLEMENTED.includes(lane)) code.not();
    code.store64(8 * lane);
  }
  code.else();
  for (let lane = 0; lane < LANE_COUNT; lane++) {
    code
      .i32(STATE_OFFSET)
      .get(A + lane)
      .store64(8 * lane);
  }
  code.end();
}

/** One round from the lanes at `from` to those at `to`; lane (x, y) is number x + 5y. */
function writeRound(code: KernelCode, from: number, to: number, constant: number): void {
  for (let x = 0; x < 5; x++) {
    code.get(from + x);
    for (let y = 1; y < 5; y++) code.get(from + x + 5 * y).xor();
    code.set(PARITY + x);
  }
  for (let x = 0; x < 5; x++) {
    code.get(PARITY + ((x + 4) % 5)).get(PARITY + ((x + 1) % 5));
    code
      .rotateLeft(1)
      .xor()
      .set(EFFECT + x);
  }
  for (let y = 0; y < 5; y++) {
    // Lane (x, y) of the permuted state comes from the lane (x + 3y, x), rotated.
    for (let x = 0; x < 5; x++) {
      const column = (x + 3 * y) % 5;
      const source = column + 5 * x;
      code
        .get(from + source)
        .get(EFFECT + column)
        .xor();
      code.rotateLeft(ROTATIONS[source] ?? 0).set(B + x);
    }
    for (let x = 0; x < 5; x++) {
      writeChi(code, x, CHI[y]?.[x] ?? "");
      if (x === 0 && y === 0)
        code
          .get(CURSOR)
          .load64(CONSTANTS_OFFSET + constant)
          .xor();
      code.set(to + x + 5 * y);
    }
  }
}

/**
 * `b[x] ^ (b[x+1] op b[x+2])` where the form says which operands are complemented first ("~0" is
 * b[x] itself) and what joins the last two.
 */
function writeChi(code: KernelCode, x: number, form: string): void {
  const operand = (step: number): void => {
    code.get(B + ((x + step) % 5));
    if (form.includes(`~${step}`)) code.not();
  };
  operand(0);
  operand(1);
  operand(2);
  if (form.startsWith("or")) code.or();
  else code.and();
  code.xor();
}

/** By row and column: chi with some lanes complemented on the way in and on the way out. */
const CHI = [
  ["or", "or~1", "and", "or", "and"],
  ["or", "and", "or~2", "or", "and"],
  ["or", "and", "and~1", "or~0", "and"],
  ["and", "or", "or~1", "and~0", "or"],
  ["and~1", "or~0", "and", "or", "and"],
] as const;

/** The rho step, by lane number. */
const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
] as const;

/** The iota step's constants, little-endian: bits 2^j - 1 drawn from a shift register of 8 bits. */
function roundConstants(): Uint8Array {
  const bytes = new Uint8Array(8 * ROUND_COUNT);
  const view = new DataView(bytes.buffer);
  let register = 1;
  for (let round = 0; round < ROUND_COUNT; round++) {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if ((register & 1) !== 0) constant |= 1n << BigInt(2 ** j - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    view.setBigUint64(8 * round, constant, true);
  }
  return bytes;
}

import { WasmAssembler, type Local, type WasmFunction } from "./wasm/wasm-assembler.ts";
import { instantiateWasm, type WasmCall } from "./wasm/wasm-instance.ts";

const STATE_SIZE = 64;
const MESSAGE_OFFSET = STATE_SIZE;
const COUNTER_OFFSET = 192;
const WORDS_OFFSET = 208;

/**
 * The compression function F of BLAKE2b (RFC 7693) with any number of rounds. `block` holds the
 * state (64 bytes), the message (128) and the counter (16), little-endian; the answer is the new
 * state. In WebAssembly because a round is paid with one gas only.
 */
export function blake2fCompress(
  roundCount: number,
  block: Uint8Array,
  isFinal: boolean,
): Uint8Array {
  kernel ??= createKernel();
  kernel.bytes.set(block);
  kernel.start(isFinal ? -1n : 0n);
  for (let left = roundCount; left > 0; left -= ROUNDS_PER_CALL) {
    kernel.mix(Math.min(left, ROUNDS_PER_CALL));
  }
  kernel.finish();
  return kernel.bytes.slice(0, STATE_SIZE);
}

/**
 * V8 starts with quick, slow code, and a loop that runs in it stays in it: short calls let the
 * better code take over as soon as it is ready. A multiple of ten, the kinds of round.
 */
const ROUNDS_PER_CALL = 2000;

type Kernel = {
  readonly bytes: Uint8Array;
  readonly start: WasmCall;
  readonly mix: WasmCall;
  readonly finish: WasmCall;
};

let kernel: Kernel | undefined;

function createKernel(): Kernel {
  const assembler = new WasmAssembler(WORDS_OFFSET + 128);
  assembler.define("start", ["i64"], writeStart);
  assembler.define("mix", ["i32"], writeMix);
  assembler.define("finish", [], writeFinish);
  const instance = instantiateWasm(assembler.encode());
  return {
    bytes: new Uint8Array(instance.memory),
    start: instance.function("start"),
    mix: instance.function("mix"),
    finish: instance.function("finish"),
  };
}

const INITIAL_WORDS = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

/** Which message words each of the ten kinds of round mixes in, in order. */
const SCHEDULE = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
].map((line) => Array.from(line, (digit) => Number.parseInt(digit, 16)));

/** The four words that each of the eight mixings of a round touches: columns, then diagonals. */
const MIXINGS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

/** The sixteen working words from the state, the counter and the mark of the last block. */
function writeStart(body: WasmFunction): void {
  for (let index = 0; index < 16; index++) {
    body.i32(0);
    if (index < 8) body.i32(0).load(8 * index);
    else body.i64(INITIAL_WORDS[index - 8] ?? 0n);
    if (index === 12) body.i32(0).load(COUNTER_OFFSET).op("i64.xor");
    if (index === 13)
      body
        .i32(0)
        .load(COUNTER_OFFSET + 8)
        .op("i64.xor");
    if (index === 14) body.get(body.parameter(0)).op("i64.xor");
    body.store(WORDS_OFFSET + 8 * index);
  }
}

function writeMix(body: WasmFunction): void {
  const rounds = body.parameter(0);
  const words = body.locals("i64", 16);
  words.forEach((word, index) => {
    body
      .i32(0)
      .load(WORDS_OFFSET + 8 * index)
      .set(word);
  });
  body.block(() => {
    body.loop(() => {
      for (const order of SCHEDULE) {
        body.get(rounds).op("i32.eqz").branchIf(1);
        body.get(rounds).i32(1).op("i32.sub").set(rounds);
        writeRound(body, words, order);
      }
      body.branch(0);
    });
  });
  words.forEach((word, index) => {
    body
      .i32(0)
      .get(word)
      .store(WORDS_OFFSET + 8 * index);
  });
}

function writeFinish(body: WasmFunction): void {
  for (let index = 0; index < 8; index++) {
    body.i32(0);
    for (const offset of [0, WORDS_OFFSET, WORDS_OFFSET + 64]) {
      body.i32(0).load(offset + 8 * index);
    }
    body.op("i64.xor", "i64.xor").store(8 * index);
  }
}

function writeRound(body: WasmFunction, words: readonly Local[], order: readonly number[]): void {
  MIXINGS.forEach((mixing, position) => {
    const [a, b, c, d] = mixing.map((index) => at(words, index));
    if (a === undefined || b === undefined || c === undefined || d === undefined) return;
    const [first = 0, second = 0] = order.slice(2 * position);
    const add = (message: number, turnD: bigint, turnB: bigint): void => {
      body
        .get(a)
        .get(b)
        .op("i64.add")
        .i32(0)
        .load(MESSAGE_OFFSET + 8 * message);
      body.op("i64.add").set(a);
      body.get(d).get(a).op("i64.xor").i64(turnD).op("i64.rotr").set(d);
      body.get(c).get(d).op("i64.add").set(c);
      body.get(b).get(c).op("i64.xor").i64(turnB).op("i64.rotr").set(b);
    };
    add(first, 32n, 24n);
    add(second, 16n, 63n);
  });
}

function at(words: readonly Local[], index: number): Local {
  const word = words[index];
  if (word === undefined) throw new RangeError(`no word ${index}`);
  return word;
}

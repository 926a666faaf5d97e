/**
 * Assembles small WebAssembly modules from TypeScript. It exists because the arithmetic of the
 * precompiles needs 64-bit integers in registers, which JavaScript does not have, and because code
 * unrolled by a loop here can be read and checked, which a compiled binary cannot. Only what the
 * kernels that are assembled at first use need is here. (The Keccak kernel is built ahead of time
 * by a smaller writer of its own, keccak256-writer.ts.) All is synchronous.
 */
import {
  encodeModule,
  END,
  exportedFunction,
  exportedMemory,
  functionType,
  signed,
  sized,
  unsigned,
  VALUE_TYPE_CODE,
  vector,
} from "./wasm-binary.ts";

type ValueType = keyof typeof VALUE_TYPE_CODE;

/** A local variable of a function; parameters are its first locals. */
export type Local = { readonly index: number; readonly type: ValueType };

const OPCODES = {
  "f64x2.add": [0xfd, 0xf0, 0x01],
  "f64x2.mul": [0xfd, 0xf2, 0x01],
  "f64x2.neg": [0xfd, 0xed, 0x01],
  "f64x2.relaxed_madd": [0xfd, 0x87, 0x02],
  "f64x2.sub": [0xfd, 0xf1, 0x01],
  "i32.add": [0x6a],
  "i32.and": [0x71],
  "i32.eqz": [0x45],
  "i32.lt_s": [0x48],
  "i32.shl": [0x74],
  "i32.shr_u": [0x76],
  "i32.sub": [0x6b],
  "i64.add": [0x7c],
  "i64.and": [0x83],
  "i64.ctz": [0x7a],
  "i64.eqz": [0x50],
  "i64.extend_i32_u": [0xad],
  "i64.gt_s": [0x55],
  "i64.lt_s": [0x53],
  "i64.lt_u": [0x54],
  "i64.mul": [0x7e],
  "i64.or": [0x84],
  "i64.rotr": [0x8a],
  "i64.shl": [0x86],
  "i64.shr_s": [0x87],
  "i64.shr_u": [0x88],
  "i64.sub": [0x7d],
  "i64.xor": [0x85],
  "i64x2.add": [0xfd, 0xce, 0x01],
  "i64x2.shr_u": [0xfd, 0xcd, 0x01],
  "i64x2.sub": [0xfd, 0xd1, 0x01],
  "v128.and": [0xfd, 0x4e],
  "v128.or": [0xfd, 0x50],
  "v128.xor": [0xfd, 0x51],
  select: [0x1b],
  return: [0x0f],
} as const;

type Operation = keyof typeof OPCODES;

/** Writes the body of one function, instruction by instruction, in stack order. */
export class WasmFunction {
  readonly name: string;
  readonly index: number;
  readonly parameters: readonly Local[];
  readonly result: ValueType | undefined;
  readonly #constantPair: (low: bigint, high: bigint) => number;
  readonly #locals: Local[] = [];
  readonly #code: number[] = [];

  constructor(
    name: string,
    index: number,
    parameterTypes: readonly ValueType[],
    result: ValueType | undefined,
    constantPair: (low: bigint, high: bigint) => number,
  ) {
    this.#constantPair = constantPair;
    this.name = name;
    this.index = index;
    this.parameters = parameterTypes.map((type, position) => ({ index: position, type }));
    this.result = result;
  }

  parameter(position: number): Local {
    const local = this.parameters[position];
    if (local === undefined) throw new RangeError(`${this.name} has no parameter ${position}`);
    return local;
  }

  local(type: ValueType): Local {
    const local = { index: this.parameters.length + this.#locals.length, type };
    this.#locals.push(local);
    return local;
  }

  locals(type: ValueType, count: number): readonly Local[] {
    return Array.from({ length: count }, () => this.local(type));
  }

  op(...operations: readonly Operation[]): this {
    for (const operation of operations) this.#code.push(...OPCODES[operation]);
    return this;
  }

  get(local: Local): this {
    this.#code.push(0x20, ...unsigned(local.index));
    return this;
  }

  set(local: Local): this {
    this.#code.push(0x21, ...unsigned(local.index));
    return this;
  }

  tee(local: Local): this {
    this.#code.push(0x22, ...unsigned(local.index));
    return this;
  }

  i32(value: number): this {
    this.#code.push(0x41, ...signed(BigInt(value)));
    return this;
  }

  i64(value: bigint): this {
    this.#code.push(0x42, ...signed(BigInt.asIntN(64, value)));
    return this;
  }

  /** A pair of lanes, each the bits of an integer or of a double. */
  constant(low: bigint, high: bigint): this {
    return this.i32(this.#constantPair(low, high)).loadPair(0);
  }

  /** From two pairs on the stack (lanes 0, 1 of the first, 2, 3 of the second) takes two lanes. */
  shuffle(low: number, high: number): this {
    const lanes = [low, high].flatMap((lane) => BYTES.map((byte) => 8 * lane + byte));
    this.#code.push(0xfd, 0x0d, ...lanes);
    return this;
  }

  /** Loads from the address on the stack plus a constant. */
  load(offset: number): this {
    this.#code.push(0x29, 3, ...unsigned(offset));
    return this;
  }

  store(offset: number): this {
    this.#code.push(0x37, 3, ...unsigned(offset));
    return this;
  }

  loadPair(offset: number): this {
    this.#code.push(0xfd, 0x00, 3, ...unsigned(offset));
    return this;
  }

  storePair(offset: number): this {
    this.#code.push(0xfd, 0x0b, 3, ...unsigned(offset));
    return this;
  }

  call(target: WasmFunction): this {
    this.#code.push(0x10, ...unsigned(target.index));
    return this;
  }

  /** Inside the body, `branch(0)` leaves the block. */
  block(body: () => void): this {
    return this.#nested(0x02, body);
  }

  /** Inside the body, `branch(0)` starts it again. */
  loop(body: () => void): this {
    return this.#nested(0x03, body);
  }

  /** Runs the body if the i32 on the stack is not zero. */
  when(body: () => void): this {
    return this.#nested(0x04, body);
  }

  branch(depth: number): this {
    this.#code.push(0x0c, depth);
    return this;
  }

  branchIf(depth: number): this {
    this.#code.push(0x0d, depth);
    return this;
  }

  encodeType(): number[] {
    const parameters = this.parameters.map(({ type }) => VALUE_TYPE_CODE[type]);
    const results = this.result === undefined ? [] : [VALUE_TYPE_CODE[this.result]];
    return functionType(parameters, results);
  }

  encodeBody(): number[] {
    const locals = vector(this.#locals.map(({ type }) => [1, VALUE_TYPE_CODE[type]]));
    return sized([...locals, ...this.#code, END]);
  }

  #nested(opcode: number, body: () => void): this {
    this.#code.push(opcode, 0x40);
    body();
    this.#code.push(END);
    return this;
  }
}

const PAGE_SIZE = 0x1_0000;

/** The first bytes of memory belong to the constants of the functions. */
export const CONSTANTS_SIZE = 4096;

/** A module of functions over one memory, which is exported as `memory`. */
export class WasmAssembler {
  /** In bytes. */
  readonly memorySize: number;
  readonly #functions: WasmFunction[] = [];
  readonly #constants = new Map<string, number>();
  readonly #constantBytes: number[] = [];

  constructor(memorySize: number) {
    this.memorySize = memorySize;
  }

  /** Address of a pair of lanes. V8 builds a literal pair anew at each use, which costs more. */
  #constantPair(low: bigint, high: bigint): number {
    const key = `${low}:${high}`;
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const address = this.#constantBytes.length;
    this.#constants.set(key, address);
    this.#constantBytes.push(...littleEndian(low), ...littleEndian(high));
    if (address >= CONSTANTS_SIZE) throw new RangeError("too many constants");
    return address;
  }

  /** A name stands for one function: what is defined again is the first definition. */
  define(
    name: string,
    parameterTypes: readonly ValueType[],
    write: (body: WasmFunction) => void,
    result?: ValueType,
  ): WasmFunction {
    const known = this.#functions.find((candidate) => candidate.name === name);
    if (known !== undefined) return known;
    const index = this.#functions.length;
    const body = new WasmFunction(name, index, parameterTypes, result, (low, high) =>
      this.#constantPair(low, high),
    );
    this.#functions.push(body);
    write(body);
    return body;
  }

  /** The binary form. */
  encode(): Uint8Array<ArrayBuffer> {
    const functions = this.#functions;
    const exports = functions.map(({ name, index }) => exportedFunction(name, index));
    return encodeModule({
      types: functions.map((body) => body.encodeType()),
      bodies: functions.map((body) => body.encodeBody()),
      exports: [...exports, exportedMemory()],
      memoryPages: Math.ceil(this.memorySize / PAGE_SIZE),
      data: { address: 0, bytes: this.#constantBytes },
    });
  }
}

const BYTES = [0, 1, 2, 3, 4, 5, 6, 7];

function littleEndian(word: bigint): number[] {
  return BYTES.map((byte) => Number((word >> BigInt(8 * byte)) & 0xffn));
}

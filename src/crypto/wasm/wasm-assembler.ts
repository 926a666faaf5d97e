/**
 * Assembles a small WebAssembly module from TypeScript. It exists for the rounds of BLAKE2b, which
 * need 64-bit integers in registers and of which no library offers the compression function on its
 * own: only what that kernel needs is here. (The Keccak kernel is built ahead of time by a writer
 * of its own, keccak256-writer.ts.) All is synchronous.
 */
import {
  encodeModule,
  END,
  exportedFunction,
  exportedMemory,
  functionType,
  signedLeb128,
  sized,
  unsignedLeb128,
  VALUE_TYPE_CODE,
  vector,
} from "./wasm-binary.ts";

type ValueType = keyof typeof VALUE_TYPE_CODE;

/** A local variable of a function; parameters are its first locals. */
export type Local = { readonly index: number; readonly type: ValueType };

const OPCODES = {
  "i32.eqz": 0x45,
  "i32.sub": 0x6b,
  "i64.add": 0x7c,
  "i64.rotr": 0x8a,
  "i64.xor": 0x85,
} as const;

type Operation = keyof typeof OPCODES;

/** Writes the body of one function, instruction by instruction, in stack order. */
export class WasmFunction {
  readonly name: string;
  readonly #parameters: readonly Local[];
  readonly #locals: Local[] = [];
  readonly #code: number[] = [];

  constructor(name: string, parameterTypes: readonly ValueType[]) {
    this.name = name;
    this.#parameters = parameterTypes.map((type, index) => ({ index, type }));
  }

  parameter(position: number): Local {
    const local = this.#parameters[position];
    if (local === undefined) throw new RangeError(`${this.name} has no parameter ${position}`);
    return local;
  }

  locals(type: ValueType, count: number): readonly Local[] {
    const start = this.#parameters.length + this.#locals.length;
    const locals = Array.from({ length: count }, (_, index) => ({ index: start + index, type }));
    this.#locals.push(...locals);
    return locals;
  }

  op(...operations: readonly Operation[]): this {
    for (const operation of operations) this.#code.push(OPCODES[operation]);
    return this;
  }

  get(local: Local): this {
    this.#code.push(0x20, ...unsignedLeb128(local.index));
    return this;
  }

  set(local: Local): this {
    this.#code.push(0x21, ...unsignedLeb128(local.index));
    return this;
  }

  i32(value: number): this {
    this.#code.push(0x41, ...signedLeb128(BigInt(value)));
    return this;
  }

  i64(value: bigint): this {
    this.#code.push(0x42, ...signedLeb128(BigInt.asIntN(64, value)));
    return this;
  }

  /** Loads from the address on the stack plus a constant. */
  load(offset: number): this {
    this.#code.push(0x29, 3, ...unsignedLeb128(offset));
    return this;
  }

  store(offset: number): this {
    this.#code.push(0x37, 3, ...unsignedLeb128(offset));
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

  branch(depth: number): this {
    this.#code.push(0x0c, depth);
    return this;
  }

  branchIf(depth: number): this {
    this.#code.push(0x0d, depth);
    return this;
  }

  encodeType(): number[] {
    return functionType(
      this.#parameters.map(({ type }) => VALUE_TYPE_CODE[type]),
      [],
    );
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

/** A module of functions without results over one memory, which is exported as `memory`. */
export class WasmAssembler {
  readonly #memorySize: number;
  readonly #functions: WasmFunction[] = [];

  /** In bytes. */
  constructor(memorySize: number) {
    this.#memorySize = memorySize;
  }

  define(
    name: string,
    parameterTypes: readonly ValueType[],
    write: (body: WasmFunction) => void,
  ): void {
    const body = new WasmFunction(name, parameterTypes);
    this.#functions.push(body);
    write(body);
  }

  /** The binary form. */
  encode(): Uint8Array<ArrayBuffer> {
    const functions = this.#functions;
    const exports = functions.map(({ name }, index) => exportedFunction(name, index));
    return encodeModule({
      types: functions.map((body) => body.encodeType()),
      bodies: functions.map((body) => body.encodeBody()),
      exports: [...exports, exportedMemory()],
      memoryPages: Math.ceil(this.#memorySize / PAGE_SIZE),
      data: { address: 0, bytes: [] },
    });
  }
}

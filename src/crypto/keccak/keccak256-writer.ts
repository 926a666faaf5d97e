/** Just enough of the WebAssembly binary format to write one small module by hand. */

/** Instructions of a function, in the order in which they are written. */
export class WasmCode {
  readonly bytes: number[] = [];

  get(local: number): this {
    return this.#emit(0x20, ...unsigned(local));
  }

  set(local: number): this {
    return this.#emit(0x21, ...unsigned(local));
  }

  /** Sets the local and leaves the value on the stack. */
  tee(local: number): this {
    return this.#emit(0x22, ...unsigned(local));
  }

  i32(value: number): this {
    return this.#emit(0x41, ...signed(BigInt(value)));
  }

  i64(value: bigint): this {
    return this.#emit(0x42, ...signed(value));
  }

  i32Add = (): this => this.#emit(0x6a);
  i32Subtract = (): this => this.#emit(0x6b);
  i32Multiply = (): this => this.#emit(0x6c);
  i32Divide = (): this => this.#emit(0x6e);
  i32And = (): this => this.#emit(0x71);
  i32Or = (): this => this.#emit(0x72);
  i32Less = (): this => this.#emit(0x49);
  and = (): this => this.#emit(0x83);
  or = (): this => this.#emit(0x84);
  xor = (): this => this.#emit(0x85);
  not = (): this => this.i64(-1n).xor();

  rotateLeft(count: number): this {
    return count === 0 ? this : this.i64(BigInt(count)).#emit(0x89);
  }

  load8 = (): this => this.#emit(0x2d, 0, 0);
  store8 = (): this => this.#emit(0x3a, 0, 0);

  load64(offset: number): this {
    return this.#emit(0x29, 0, ...unsigned(offset));
  }

  store64(offset: number): this {
    return this.#emit(0x37, 0, ...unsigned(offset));
  }

  loop = (): this => this.#emit(0x03, 0x40);
  if = (): this => this.#emit(0x04, 0x40);
  else = (): this => this.#emit(0x05);
  end = (): this => this.#emit(0x0b);
  branch = (depth: number): this => this.#emit(0x0c, depth);
  branchIf = (depth: number): this => this.#emit(0x0d, depth);

  #emit(...bytes: readonly number[]): this {
    this.bytes.push(...bytes);
    return this;
  }
}

export type WasmFunction = {
  readonly name: string;
  readonly i32ParameterCount: number;
  readonly i32LocalCount: number;
  readonly i64LocalCount: number;
  readonly code: WasmCode;
};

export type WasmData = { readonly offset: number; readonly bytes: Uint8Array };

/** A module of one function without results, one page of memory (exported) and its first data. */
export function encodeWasmModule(main: WasmFunction, data: WasmData): Uint8Array {
  const parameters = new Array<number>(main.i32ParameterCount).fill(I32);
  const locals = [2, ...unsigned(main.i32LocalCount), I32, ...unsigned(main.i64LocalCount), I64];
  const body = [...locals, ...main.code.bytes, END];
  const offset = new WasmCode().i32(data.offset).end().bytes;
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, ...sized(parameters), 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 1, 1, 1]),
    ...section(7, [2, ...named("memory"), 2, 0, ...named(main.name), 0, 0]),
    ...section(10, [1, ...sized(body)]),
    ...section(11, [1, 0, ...offset, ...sized([...data.bytes])]),
  ]);
}

const I32 = 0x7f;
const I64 = 0x7e;
const END = 0x0b;

function section(id: number, content: readonly number[]): readonly number[] {
  return [id, ...sized(content)];
}

function named(text: string): readonly number[] {
  return sized(Array.from(text, (char) => char.charCodeAt(0)));
}

function sized(content: readonly number[]): readonly number[] {
  return [...unsigned(content.length), ...content];
}

/** LEB128. */
function unsigned(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return [...bytes, rest];
}

function signed(value: bigint): readonly number[] {
  const bytes: number[] = [];
  let rest = BigInt.asIntN(64, value);
  while (rest < -64n || rest > 63n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest & 0x7fn)];
}

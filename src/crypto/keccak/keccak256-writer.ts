/**
 * Writes the one function of the Keccak kernel. It is not wasm-assembler.ts, because lanes are
 * found by arithmetic on the numbers of locals, input is at any address (loads are not aligned),
 * and the bytes are pinned: a module that is shipped must not change when the assembler does.
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
} from "../wasm/wasm-binary.ts";

/** Instructions of a function, in the order in which they are written. */
export class KernelCode {
  readonly bytes: number[] = [];

  get(local: number): this {
    return this.#emit(0x20, ...unsignedLeb128(local));
  }

  set(local: number): this {
    return this.#emit(0x21, ...unsignedLeb128(local));
  }

  /** Sets the local and leaves the value on the stack. */
  tee(local: number): this {
    return this.#emit(0x22, ...unsignedLeb128(local));
  }

  i32(value: number): this {
    return this.#emit(0x41, ...signedLeb128(BigInt(value)));
  }

  i64(value: bigint): this {
    return this.#emit(0x42, ...signedLeb128(BigInt.asIntN(64, value)));
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
    return this.#emit(0x29, 0, ...unsignedLeb128(offset));
  }

  store64(offset: number): this {
    return this.#emit(0x37, 0, ...unsignedLeb128(offset));
  }

  loop = (): this => this.#emit(0x03, 0x40);
  if = (): this => this.#emit(0x04, 0x40);
  else = (): this => this.#emit(0x05);
  end = (): this => this.#emit(END);
  branch = (depth: number): this => this.#emit(0x0c, depth);
  branchIf = (depth: number): this => this.#emit(0x0d, depth);

  #emit(...bytes: readonly number[]): this {
    this.bytes.push(...bytes);
    return this;
  }
}

type KernelFunction = {
  readonly name: string;
  readonly i32ParameterCount: number;
  readonly i32LocalCount: number;
  readonly i64LocalCount: number;
  readonly code: KernelCode;
};

type KernelData = { readonly offset: number; readonly bytes: Uint8Array };

/** A module of one function without results, one page of memory (exported) and its first data. */
export function encodeKernel(main: KernelFunction, data: KernelData): Uint8Array {
  const { i32, i64 } = VALUE_TYPE_CODE;
  const parameters = new Array<number>(main.i32ParameterCount).fill(i32);
  const locals = [
    2,
    ...unsignedLeb128(main.i32LocalCount),
    i32,
    ...unsignedLeb128(main.i64LocalCount),
    i64,
  ];
  const body = [...locals, ...main.code.bytes, END];
  return encodeModule({
    types: [functionType(parameters, [])],
    bodies: [sized(body)],
    exports: [exportedMemory(), exportedFunction(main.name, 0)],
    memoryPages: 1,
    data: { address: data.offset, bytes: [...data.bytes] },
  });
}

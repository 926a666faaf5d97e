/** Writes EVM code: opcodes by name, pushes of the shortest width, and labels for jumps. */
export class Assembler {
  readonly #bytes: number[] = [];
  readonly #labels: { readonly at: number; readonly label: object }[] = [];
  readonly #positions = new Map<object, number>();

  get size(): number {
    return this.#bytes.length;
  }

  op(...opcodes: readonly number[]): this {
    this.#bytes.push(...opcodes);
    return this;
  }

  push(value: bigint | number): this {
    const word = BigInt(value);
    if (word === 0n) return this.op(OP.PUSH0);
    const digits = word.toString(16);
    const hex = digits.length % 2 === 0 ? digits : `0${digits}`;
    const size = hex.length / 2;
    this.op(OP.PUSH0 + size);
    for (let index = 0; index < size; index++) {
      this.op(Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16));
    }
    return this;
  }

  /** Pushes the position of a label that may not be placed yet. */
  pushLabel(label: object): this {
    this.op(OP.PUSH0 + 2);
    this.#labels.push({ at: this.#bytes.length, label });
    return this.op(0, 0);
  }

  /** Places a label here. A jump target also needs a JUMPDEST. */
  place(label: object): this {
    this.#positions.set(label, this.#bytes.length);
    return this;
  }

  raw(bytes: Uint8Array): this {
    return this.op(...bytes);
  }

  assemble(): Uint8Array {
    const bytes = Uint8Array.from(this.#bytes);
    for (const { at, label } of this.#labels) {
      const position = this.#positions.get(label) ?? 0xffff;
      bytes[at] = position >> 8;
      bytes[at + 1] = position & 0xff;
    }
    return bytes;
  }
}

export const OP = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  EXP: 0x0a,
  ISZERO: 0x15,
  AND: 0x16,
  KECCAK256: 0x20,
  BALANCE: 0x31,
  CALLDATALOAD: 0x35,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  EXTCODESIZE: 0x3b,
  EXTCODECOPY: 0x3c,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  EXTCODEHASH: 0x3f,
  BLOCKHASH: 0x40,
  BLOBHASH: 0x49,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  MSTORE8: 0x53,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  TLOAD: 0x5c,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  PUSH0: 0x5f,
  DUP1: 0x80,
  SWAP1: 0x90,
  LOG0: 0xa0,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
} as const;

import { invariant } from "../../base/invariant.ts";
import { FP_SIZE, G1_SIZE, G2_SIZE, GT_SIZE, type MclModule } from "./mcl-module.ts";

/** How the precompiles of a curve write its numbers and points. */
export type CurveEncoding = {
  /** Bytes of a field element in mcl's encoding. */
  readonly fieldSize: number;
  /** Bytes of a field element in a precompile's input; the first ones beyond `fieldSize` are 0. */
  readonly paddedSize: number;
  /** Whether mcl has the field elements of this curve little-endian; the precompiles never do. */
  readonly isFieldLittleEndian: boolean;
  /** Whether c1 of an element c0 + c1 i stands before c0. */
  readonly isImaginaryFirst: boolean;
};

const SCALAR_SIZE = 32;
const FLAG_COMPRESSED = 0x80;
const FLAG_INFINITY = 0x40;
/** The largest encoding that passes through memory at once, a compressed point of G2. */
const BYTES_SIZE = 96;

/**
 * Points between a precompile's bytes and an instance of mcl. Readers answer whether the bytes are
 * a point: coordinates below the prime, on the curve; all zeros are the point at infinity. Whether
 * it is in the subgroup is asked apart. Each operation frees what it allocated.
 */
export class MclCurve {
  readonly module: MclModule;
  readonly #encoding: CurveEncoding;
  readonly #bytes: number;
  readonly #one: number;
  #memory: Uint8Array;
  #allocated: number[] = [];

  constructor(module: MclModule, encoding: CurveEncoding) {
    this.module = module;
    this.#encoding = encoding;
    this.#memory = new Uint8Array(module.wasmMemory.buffer);
    this.#bytes = this.allocateForever(BYTES_SIZE);
    this.#one = this.allocateForever(FP_SIZE);
    module._mclBnFp_setInt32(this.#one, 1);
  }

  allocateForever(size: number): number {
    const address = this.module._malloc(size);
    invariant(address !== 0, "mcl has memory");
    return address;
  }

  /** Runs an operation; what it allocates by `allocate` is freed when it ends. */
  run<Result>(operation: () => Result): Result {
    invariant(this.#allocated.length === 0, "operations of a curve are not nested");
    try {
      return operation();
    } finally {
      for (const address of this.#allocated) this.module._free(address);
      this.#allocated = [];
    }
  }

  allocate(size: number): number {
    const address = this.allocateForever(size);
    this.#allocated.push(address);
    return address;
  }

  readG1(target: number, input: Uint8Array, offset: number): boolean {
    const { paddedSize } = this.#encoding;
    if (isZero(input, offset, 2 * paddedSize)) {
      this.module._mclBnG1_clear(target);
      return true;
    }
    if (!this.readField(target, input, offset)) return false;
    if (!this.readField(target + FP_SIZE, input, offset + paddedSize)) return false;
    this.copy(target + 2 * FP_SIZE, this.#one, FP_SIZE);
    return this.module._mclBnG1_isValid(target) === 1;
  }

  readG2(target: number, input: Uint8Array, offset: number): boolean {
    const { paddedSize } = this.#encoding;
    if (isZero(input, offset, 4 * paddedSize)) {
      this.module._mclBnG2_clear(target);
      return true;
    }
    if (!this.readQuadratic(target, input, offset)) return false;
    if (!this.readQuadratic(target + 2 * FP_SIZE, input, offset + 2 * paddedSize)) return false;
    this.copy(target + 4 * FP_SIZE, this.#one, FP_SIZE);
    this.#view().fill(0, target + 5 * FP_SIZE, target + 6 * FP_SIZE);
    return this.module._mclBnG2_isValid(target) === 1;
  }

  /** An element c0 + c1 i of the quadratic extension. */
  readQuadratic(target: number, input: Uint8Array, offset: number): boolean {
    const { paddedSize, isImaginaryFirst } = this.#encoding;
    const [first, second] = isImaginaryFirst ? [FP_SIZE, 0] : [0, FP_SIZE];
    return (
      this.readField(target + first, input, offset) &&
      this.readField(target + second, input, offset + paddedSize)
    );
  }

  /** False for a number that is not below the prime: the EIPs refuse it, nothing is reduced. */
  readField(target: number, input: Uint8Array, offset: number): boolean {
    const { fieldSize, paddedSize, isFieldLittleEndian } = this.#encoding;
    const start = offset + paddedSize - fieldSize;
    if (!isZero(input, offset, paddedSize - fieldSize)) return false;
    this.#write(input, start, fieldSize);
    if (isFieldLittleEndian) this.#reverse(fieldSize);
    return this.module._mclBnFp_deserialize(target, this.#bytes, fieldSize) === fieldSize;
  }

  /** Any 256-bit number, which counts modulo the order of the group. */
  readScalar(target: number, input: Uint8Array, offset: number): void {
    this.#write(input, offset, SCALAR_SIZE);
    const code = this.module._mclBnFr_setBigEndianMod(target, this.#bytes, SCALAR_SIZE);
    invariant(code === 0, "mcl reduces 256-bit numbers");
  }

  /** False for a number that is not below the order of the group. */
  readCanonicalScalar(target: number, input: Uint8Array): boolean {
    this.#write(input, 0, SCALAR_SIZE);
    return this.module._mclBnFr_deserialize(target, this.#bytes, SCALAR_SIZE) === SCALAR_SIZE;
  }

  /** A point in the compressed form of the Zcash protocol, in the subgroup or not. */
  readCompressedG1(target: number, input: Uint8Array): boolean {
    // mcl takes infinity with any other bits for infinity. Ethereum refuses all but one encoding.
    const isInfinity = ((input[0] ?? 0) & FLAG_INFINITY) !== 0;
    if (isInfinity && !isCanonicalInfinity(input)) return false;
    this.#write(input, 0, input.length);
    return this.module._mclBnG1_deserialize(target, this.#bytes, input.length) === input.length;
  }

  /** For constants: a point at infinity is not looked at closely. */
  readCompressedG2(target: number, input: Uint8Array): boolean {
    this.#write(input, 0, input.length);
    return this.module._mclBnG2_deserialize(target, this.#bytes, input.length) === input.length;
  }

  encodeG1(point: number): Uint8Array {
    const { paddedSize } = this.#encoding;
    const output = new Uint8Array(2 * paddedSize);
    if (this.module._mclBnG1_isZero(point) === 1) return output;
    this.module._mclBnG1_normalize(point, point);
    this.#encodeField(point, output, 0);
    this.#encodeField(point + FP_SIZE, output, paddedSize);
    return output;
  }

  encodeG2(point: number): Uint8Array {
    const { paddedSize, isImaginaryFirst } = this.#encoding;
    const output = new Uint8Array(4 * paddedSize);
    if (this.module._mclBnG2_isZero(point) === 1) return output;
    this.module._mclBnG2_normalize(point, point);
    for (let index = 0; index < 4; index++) {
      const position = isImaginaryFirst ? index ^ 1 : index;
      this.#encodeField(point + index * FP_SIZE, output, position * paddedSize);
    }
    return output;
  }

  /**
   * Whether the product of the pairings of `count` pairs is one; undefined for points that are not
   * on their curve or not in their subgroup. A pair with the point at infinity has pairing one.
   */
  isPairingProductOne(input: Uint8Array, isSubgroupG1Checked: boolean): boolean | undefined {
    const { module } = this;
    const { paddedSize } = this.#encoding;
    const pairSize = 6 * paddedSize;
    const count = input.length / pairSize;
    if (count === 0) return true;
    const g1 = this.allocate(count * G1_SIZE);
    const g2 = this.allocate(count * G2_SIZE);
    let used = 0;
    for (let offset = 0; offset < input.length; offset += pairSize) {
      const p = g1 + used * G1_SIZE;
      const q = g2 + used * G2_SIZE;
      if (!this.readG1(p, input, offset)) return undefined;
      if (isSubgroupG1Checked && module._mclBnG1_isValidOrder(p) !== 1) return undefined;
      if (!this.readG2(q, input, offset + 2 * paddedSize)) return undefined;
      if (module._mclBnG2_isValidOrder(q) !== 1) return undefined;
      if (module._mclBnG1_isZero(p) !== 1 && module._mclBnG2_isZero(q) !== 1) used++;
    }
    if (used === 0) return true;
    const product = this.allocate(GT_SIZE);
    module._mclBn_millerLoopVec(product, g1, g2, used);
    module._mclBn_finalExp(product, product);
    return module._mclBnGT_isOne(product) === 1;
  }

  #encodeField(element: number, output: Uint8Array, offset: number): void {
    const { fieldSize, paddedSize, isFieldLittleEndian } = this.#encoding;
    const size = this.module._mclBnFp_serialize(this.#bytes, BYTES_SIZE, element);
    invariant(size === fieldSize, "mcl writes a field element in full");
    if (isFieldLittleEndian) this.#reverse(size);
    const bytes = this.#view().subarray(this.#bytes, this.#bytes + size);
    output.set(bytes, offset + paddedSize - fieldSize);
  }

  #reverse(size: number): void {
    this.#view()
      .subarray(this.#bytes, this.#bytes + size)
      .reverse();
  }

  #write(input: Uint8Array, offset: number, size: number): void {
    invariant(size <= BYTES_SIZE && offset + size <= input.length, "the bytes are in the input");
    this.#view().set(input.subarray(offset, offset + size), this.#bytes);
  }

  copy(target: number, source: number, size: number): void {
    this.#view().copyWithin(target, source, source + size);
  }

  /** When mcl's memory grows, views on it become empty. */
  #view(): Uint8Array {
    if (this.#memory.length === 0) this.#memory = new Uint8Array(this.module.wasmMemory.buffer);
    return this.#memory;
  }
}

function isCanonicalInfinity(bytes: Uint8Array): boolean {
  return bytes[0] === (FLAG_COMPRESSED | FLAG_INFINITY) && isZero(bytes, 1, bytes.length - 1);
}

function isZero(bytes: Uint8Array, offset: number, size: number): boolean {
  for (let index = offset; index < offset + size; index++) {
    if (bytes[index] !== 0) return false;
  }
  return true;
}

/**
 * Keccak-256, Ethereum's hash, by a WebAssembly kernel of our own (docs/adr/0002-keccak-kernel.md).
 * The module is instantiated when it is imported, without I/O and without waiting.
 */
import { invariant } from "../base/invariant.ts";
import {
  DIGEST_OFFSET,
  FLAG_FIRST,
  FLAG_LAST,
  INPUT_OFFSET,
  RATE,
} from "./keccak/keccak256-layout.ts";
import { KECCAK256_WASM } from "./keccak/keccak256-wasm.ts";
import { instantiateWasm } from "./wasm/wasm-instance.ts";

export const HASH_SIZE = 32;

/** Whole blocks that fit in the kernel's page of memory, with room for the padding behind them. */
const CHUNK_SIZE = RATE * 476;
/** Below this, a loop copies faster than the call of a typed array's method. */
const SHORT_COPY_MAX = 40;

const kernel = instantiateWasm(Buffer.from(KECCAK256_WASM, "base64"));
const absorb = kernel.function("absorb");
const memory = new Uint8Array(kernel.memory);
const view = new DataView(kernel.memory);

export function keccak256(data: Uint8Array): Uint8Array {
  hashRange(data, 0, data.length);
  return memory.slice(DIGEST_OFFSET, DIGEST_OFFSET + HASH_SIZE);
}

/** Hashes `length` bytes at `offset` and writes the hash at `outOffset`; allocates nothing. */
export function keccak256Into(
  data: Uint8Array,
  offset: number,
  length: number,
  out: Uint8Array,
  outOffset: number,
): void {
  invariant(outOffset >= 0 && outOffset + HASH_SIZE <= out.length, "the hash fits in the output");
  hashRange(data, offset, length);
  for (let index = 0; index < HASH_SIZE; index++) {
    out[outOffset + index] = memory[DIGEST_OFFSET + index] ?? 0;
  }
}

/** The hash of `length` bytes at `offset` as an unsigned 256-bit word. */
export function keccak256Word(data: Uint8Array, offset: number, length: number): bigint {
  hashRange(data, offset, length);
  const high = (view.getBigUint64(DIGEST_OFFSET) << 64n) | view.getBigUint64(DIGEST_OFFSET + 8);
  const low =
    (view.getBigUint64(DIGEST_OFFSET + 16) << 64n) | view.getBigUint64(DIGEST_OFFSET + 24);
  return (high << 128n) | low;
}

/** Leaves the digest in the kernel's memory. */
function hashRange(data: Uint8Array, offset: number, length: number): void {
  invariant(
    offset >= 0 && length >= 0 && offset + length <= data.length,
    "the range is in the data",
  );
  let flags = FLAG_FIRST;
  let from = offset;
  const end = offset + length;
  while (end - from > CHUNK_SIZE) {
    memory.set(data.subarray(from, from + CHUNK_SIZE), INPUT_OFFSET);
    absorb(CHUNK_SIZE, flags);
    flags = 0;
    from += CHUNK_SIZE;
  }
  copyIn(data, from, end - from);
  absorb(end - from, flags | FLAG_LAST);
}

function copyIn(data: Uint8Array, offset: number, length: number): void {
  if (length > SHORT_COPY_MAX) {
    const isWhole = offset === 0 && length === data.length;
    memory.set(isWhole ? data : data.subarray(offset, offset + length), INPUT_OFFSET);
    return;
  }
  for (let index = 0; index < length; index++) {
    memory[INPUT_OFFSET + index] = data[offset + index] ?? 0;
  }
}

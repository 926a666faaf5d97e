/**
 * Recursive Length Prefix, canonical form only: every value has one encoding and every accepted
 * byte string is that encoding, so `encodeRlp(decoded)` gives the input back.
 */
import { bigEndianSize, writeBigEndian } from "../../base/big-endian.ts";
import { invariant } from "../../base/invariant.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { keccak256 } from "../../crypto/keccak256.ts";

/** Byte strings are views into the decoded input, not copies. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Integers are written without leading zeros, 0 as the empty string. */
export type RlpInput = Uint8Array | bigint | number | RlpEncoded | readonly RlpInput[];

/** An item that is encoded already and goes in as it is. */
export type RlpEncoded = { readonly encoded: Uint8Array };

export type RlpErrorCode =
  | "RLP_TRUNCATED"
  | "RLP_TRAILING_BYTES"
  | "RLP_LENGTH_NOT_CANONICAL"
  | "RLP_BYTE_NOT_CANONICAL"
  | "RLP_ITEM_EXCEEDS_LIST"
  | "RLP_TOO_DEEP";

export type RlpError = { readonly code: RlpErrorCode; readonly offset: number };

/** A transaction nests 4 deep in a list, a block of them 6. */
export const RLP_DEPTH_MAX = 16;

const EMPTY_BYTES = new Uint8Array(0);
const EMPTY_LIST: readonly RlpItem[] = [];

/** Decodes exactly one item that fills the input. Bytes come from outside: nothing throws. */
export function decodeRlp(
  bytes: Uint8Array,
  depthMax: number = RLP_DEPTH_MAX,
): Result<RlpItem, RlpError> {
  const reader = new Reader(bytes, depthMax);
  const item = reader.item(bytes.length, 0);
  if (item === undefined) return err({ code: reader.failure, offset: reader.offset });
  if (reader.offset !== bytes.length) {
    return err({ code: "RLP_TRAILING_BYTES", offset: reader.offset });
  }
  return ok(item);
}

/** Items are written from the last to the first, so each length is known when it is needed. */
export function encodeRlp(input: RlpInput): Uint8Array {
  position = buffer.length;
  writeItem(input);
  const encoded = buffer.slice(position);
  shrink();
  return encoded;
}

/** The hash of the encoding, behind the byte that says its type if there is one (EIP-2718). */
export function hashRlp(input: RlpInput, type?: number): Uint8Array {
  position = buffer.length;
  writeItem(input);
  if (type !== undefined) {
    reserve(1);
    buffer[--position] = type;
  }
  const hash = keccak256(buffer.subarray(position));
  shrink();
  return hash;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #depthMax: number;
  offset = 0;
  /** Why an item was undefined. Input that just ends is the failure unless another is noted. */
  failure: RlpErrorCode = "RLP_TRUNCATED";

  constructor(bytes: Uint8Array, depthMax: number) {
    this.#bytes = bytes;
    this.#depthMax = depthMax;
  }

  /** The item at the offset, which must end at or before `end`; undefined after a failure. */
  item(end: number, depth: number): RlpItem | undefined {
    const bytes = this.#bytes;
    if (this.offset >= end) return undefined;
    const first = bytes[this.offset] ?? 0;
    if (first < 0x80) {
      this.offset++;
      return bytes.subarray(this.offset - 1, this.offset);
    }
    const isList = first >= 0xc0;
    const length = this.#length(first, isList ? 0xc0 : 0x80, end);
    if (length === undefined) return undefined;
    if (isList) return this.#list(this.offset + length, depth + 1);
    if (length === 0) return EMPTY_BYTES;
    if (length === 1 && (bytes[this.offset] ?? 0) < 0x80) {
      this.failure = "RLP_BYTE_NOT_CANONICAL";
      return undefined;
    }
    this.offset += length;
    return bytes.subarray(this.offset - length, this.offset);
  }

  #list(end: number, depth: number): readonly RlpItem[] | undefined {
    if (depth > this.#depthMax) {
      this.failure = "RLP_TOO_DEEP";
      return undefined;
    }
    if (this.offset === end) return EMPTY_LIST;
    const items: RlpItem[] = [];
    while (this.offset < end) {
      const item = this.item(end, depth);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  /** The length of the payload that starts at the new offset, known to end within `end`. */
  #length(first: number, base: number, end: number): number | undefined {
    const short = first - base;
    this.offset++;
    if (short > 55) {
      const size = short - 55;
      if (this.offset + size > end) return undefined;
      // Lengths above 2^53 lose precision here, and are far beyond any input all the same.
      let length = 0;
      for (let index = 0; index < size; index++) {
        length = length * 256 + (this.#bytes[this.offset + index] ?? 0);
      }
      if (length < 56 || this.#bytes[this.offset] === 0) {
        this.failure = "RLP_LENGTH_NOT_CANONICAL";
        return undefined;
      }
      this.offset += size;
      return this.#bounded(length, end);
    }
    return this.#bounded(short, end);
  }

  #bounded(length: number, end: number): number | undefined {
    if (this.offset + length <= end) return length;
    if (end !== this.#bytes.length) this.failure = "RLP_ITEM_EXCEEDS_LIST";
    return undefined;
  }
}

/** One buffer for all encodings: this folder is synchronous, and each result is copied out. */
const BUFFER_SIZE_KEPT = 1 << 16;
let buffer = new Uint8Array(BUFFER_SIZE_KEPT);
let position = 0;

function shrink(): void {
  if (buffer.length > BUFFER_SIZE_KEPT) buffer = new Uint8Array(BUFFER_SIZE_KEPT);
}

function writeItem(input: RlpInput): void {
  if (typeof input === "bigint") writeBigint(input);
  else if (typeof input === "number") writeNumber(input);
  else if (input instanceof Uint8Array) writeBytes(input);
  else if ("encoded" in input) writeEncoded(input.encoded);
  else writeList(input);
}

function writeEncoded(bytes: Uint8Array): void {
  reserve(bytes.length);
  position -= bytes.length;
  buffer.set(bytes, position);
}

function writeList(items: readonly RlpInput[]): void {
  // Counted from the end, because growing the buffer moves the position.
  const tail = buffer.length - position;
  for (let index = items.length - 1; index >= 0; index--) writeItem(items[index] ?? EMPTY_BYTES);
  writeHeader(buffer.length - position - tail, 0xc0);
}

function writeBytes(bytes: Uint8Array): void {
  const size = bytes.length;
  reserve(size);
  position -= size;
  if (size > 32) buffer.set(bytes, position);
  else for (let index = 0; index < size; index++) buffer[position + index] = bytes[index] ?? 0;
  if (size !== 1 || (bytes[0] ?? 0) >= 0x80) writeHeader(size, 0x80);
}

function writeBigint(value: bigint): void {
  invariant(value >= 0n, "RLP has no negative integers");
  const size = bigEndianSize(value);
  reserve(size);
  position -= size;
  writeBigEndian(value, buffer, position, size);
  if (value === 0n || value >= 0x80n) writeHeader(size, 0x80);
}

function writeNumber(value: number): void {
  invariant(Number.isSafeInteger(value) && value >= 0, "RLP has only unsigned integers");
  let size = 0;
  reserve(8);
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) {
    buffer[--position] = rest % 256;
    size++;
  }
  if (value === 0 || value >= 0x80) writeHeader(size, 0x80);
}

function writeHeader(length: number, base: number): void {
  reserve(9);
  if (length <= 55) {
    buffer[--position] = base + length;
    return;
  }
  let size = 0;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) {
    buffer[--position] = rest % 256;
    size++;
  }
  buffer[--position] = base + 55 + size;
}

function reserve(size: number): void {
  if (position >= size) return;
  const used = buffer.length - position;
  const larger = new Uint8Array(Math.max(2 * buffer.length, used + size));
  larger.set(buffer.subarray(position), larger.length - used);
  position = larger.length - used;
  buffer = larger;
}

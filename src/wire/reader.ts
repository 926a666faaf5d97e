/**
 * Canonical binary input from an untrusted peer. A reader never throws: the first fault sticks, and
 * from then on every read returns a zero of its type and every list is empty, so that a decoder is
 * straight-line code which asks once, at the end, whether the value it built is real.
 *
 * Every read accepts exactly what the Writer's method of the same name can have written. That makes
 * each decoder built from them the exact inverse of its encoder, with one encoding per value.
 */
import { err, ok, type Result } from "../base/result.ts";
import type { Hash } from "../consensus/block.ts";
import { readHashText, ZERO_HASH_TEXT } from "./hash-text.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { SIGNATURE_SIZE } from "./limits.ts";

export const WIRE_CODES = [
  "WIRE_TRUNCATED",
  "WIRE_TRAILING_BYTES",
  "WIRE_UNKNOWN_VERSION",
  "WIRE_UNKNOWN_TYPE",
  "WIRE_LIMIT_EXCEEDED",
  "WIRE_INTEGER_UNSAFE",
  "WIRE_REPLICA_OUT_OF_RANGE",
  "WIRE_VALUE_UNKNOWN",
] as const;
export type WireCode = (typeof WIRE_CODES)[number];

/** Why bytes are not a message, and where that was noticed. */
export type WireError = { readonly code: WireCode; readonly offset: number };

const HIGH_WORD_MAX = 0x1f_ffff;
const TWO_POW_32 = 0x1_0000_0000;
const NO_BYTES = new Uint8Array(0);
const NO_SIGNATURE = new Uint8Array(SIGNATURE_SIZE);

export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;
  #error: WireError | undefined = undefined;

  constructor(bytes: Uint8Array) {
    // A Buffer's `slice` would alias its input: read it as the plain bytes it is.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Marks the input as invalid; the first reason is kept. */
  fail(code: WireCode): void {
    this.#error ??= { code, offset: this.#offset };
    this.#offset = this.#bytes.length;
  }

  /** The value that was built, if nothing was wrong with it and nothing follows it. */
  finish<Value>(value: Value): Result<Value, WireError> {
    if (this.#offset < this.#bytes.length) this.fail("WIRE_TRAILING_BYTES");
    return this.#error === undefined ? ok(value) : err(this.#error);
  }

  refuse(code: WireCode): Result<never, WireError> {
    this.fail(code);
    return err(this.#error ?? { code, offset: this.#offset });
  }

  uint8(): number {
    const offset = this.#advance(1);
    return offset === undefined ? 0 : this.#view.getUint8(offset);
  }

  uint32(): number {
    const offset = this.#advance(4);
    return offset === undefined ? 0 : this.#view.getUint32(offset);
  }

  uint64(): number {
    const offset = this.#advance(8);
    if (offset === undefined) return 0;
    const high = this.#view.getUint32(offset);
    if (high > HIGH_WORD_MAX) {
      this.fail("WIRE_INTEGER_UNSAFE");
      return 0;
    }
    return high * TWO_POW_32 + this.#view.getUint32(offset + 4);
  }

  uint64OrMinusOne(): number {
    return this.uint64() - 1;
  }

  flag(): boolean {
    const value = this.uint8();
    if (value > 1) this.fail("WIRE_VALUE_UNKNOWN");
    return value === 1;
  }

  replica(): number {
    const index = this.uint8();
    if (index < REPLICAS_MAX) return index;
    this.fail("WIRE_REPLICA_OUT_OF_RANGE");
    return 0;
  }

  hash(): Hash {
    const offset = this.#advance(HASH_SIZE);
    return offset === undefined ? ZERO_HASH_TEXT : readHashText(this.#bytes, offset);
  }

  signature(): Uint8Array {
    const offset = this.#advance(SIGNATURE_SIZE);
    if (offset === undefined) return NO_SIGNATURE;
    return this.#bytes.slice(offset, offset + SIGNATURE_SIZE);
  }

  /** A copy: what is decoded never holds on to, or changes with, the buffer it came from. */
  bytes(size: number): Uint8Array {
    const offset = this.#advance(size);
    return offset === undefined ? NO_BYTES : this.#bytes.slice(offset, offset + size);
  }

  /**
   * The count of a list whose items take at least `itemSizeMin` bytes each. It is checked against
   * the bytes that are there before anything is reserved for it; a refused count is 0.
   */
  count(max: number, itemSizeMin: number): number {
    const count = this.uint32();
    if (count > max) {
      this.fail("WIRE_LIMIT_EXCEEDED");
      return 0;
    }
    if (count * itemSizeMin > this.#bytes.length - this.#offset) {
      this.fail("WIRE_TRUNCATED");
      return 0;
    }
    return count;
  }

  list<Item>(max: number, itemSizeMin: number, read: () => Item): Item[] {
    const count = this.count(max, itemSizeMin);
    const items: Item[] = [];
    for (let index = 0; index < count && this.#error === undefined; index++) items.push(read());
    return items;
  }

  #advance(size: number): number | undefined {
    const offset = this.#offset;
    if (size > this.#bytes.length - offset) {
      this.fail("WIRE_TRUNCATED");
      return undefined;
    }
    this.#offset = offset + size;
    return offset;
  }
}

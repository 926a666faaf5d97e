/**
 * Canonical binary output: big-endian, fixed widths, lists prefixed by their count. What does not
 * fit its width is a bug of ours and stops the process: nothing from outside is ever encoded
 * without having been decoded under the same limits.
 */
import { invariant } from "../base/invariant.ts";
import type { Hash } from "../consensus/block.ts";
import { writeHashText } from "./hash-text.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { SIGNATURE_SIZE } from "./limits.ts";

const CAPACITY_MIN = 4_096;
/** A larger buffer is handed over with its message instead of being kept and copied. */
const CAPACITY_KEPT_MAX = 1024 * 1024;
const UINT32_MAX = 0xffff_ffff;
const TWO_POW_32 = 0x1_0000_0000;

/** Reusable: one writer serves many messages, one after the other. */
export class Writer {
  #bytes = new Uint8Array(CAPACITY_MIN);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  /** Drops what was written, also after an encoding that failed half-way. */
  reset(): void {
    this.#size = 0;
  }

  /** What was written since the last reset, as bytes that are not shared. */
  take(): Uint8Array {
    if (this.#bytes.length <= CAPACITY_KEPT_MAX) return this.#bytes.slice(0, this.#size);
    const taken = this.#bytes.subarray(0, this.#size);
    this.#allocate(CAPACITY_MIN);
    return taken;
  }

  /** The same without a copy, valid until the next write: for hashing. */
  peek(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  uint8(value: number): void {
    invariant(Number.isInteger(value) && value >= 0 && value <= 0xff, "a byte is in 0 .. 255");
    // The offset first: making room replaces the view.
    const offset = this.#advance(1);
    this.#view.setUint8(offset, value);
  }

  uint32(value: number): void {
    invariant(Number.isInteger(value) && value >= 0 && value <= UINT32_MAX, "uint32 in range");
    const offset = this.#advance(4);
    this.#view.setUint32(offset, value);
  }

  /** Eight bytes, of which a safe integer fills 53 bits. */
  uint64(value: number): void {
    invariant(Number.isSafeInteger(value) && value >= 0, "uint64 is a safe integer >= 0");
    const offset = this.#advance(8);
    this.#view.setUint32(offset, Math.floor(value / TWO_POW_32));
    this.#view.setUint32(offset + 4, value >>> 0);
  }

  /** -1 or a safe integer, as the value plus one: -1 is all zeroes. */
  uint64OrMinusOne(value: number): void {
    this.uint64(value + 1);
  }

  flag(value: boolean): void {
    this.uint8(value ? 1 : 0);
  }

  replica(index: number): void {
    invariant(index < REPLICAS_MAX, "a replica index is below the limit of the wire format");
    this.uint8(index);
  }

  hash(hash: Hash): void {
    const offset = this.#advance(HASH_SIZE);
    writeHashText(hash, this.#bytes, offset);
  }

  signature(signature: Uint8Array): void {
    invariant(signature.length === SIGNATURE_SIZE, "a signature has 64 bytes");
    this.bytes(signature);
  }

  /** Raw bytes; their size is fixed or was written before. */
  bytes(bytes: Uint8Array): void {
    const offset = this.#advance(bytes.length);
    this.#bytes.set(bytes, offset);
  }

  list<Item>(items: readonly Item[], max: number, write: (item: Item) => void): void {
    invariant(items.length <= max, "a list is within its limit");
    this.uint32(items.length);
    for (const item of items) write(item);
  }

  #advance(size: number): number {
    const offset = this.#size;
    this.#size = offset + size;
    if (this.#size > this.#bytes.length) this.#grow(offset);
    return offset;
  }

  #grow(used: number): void {
    const previous = this.#bytes;
    this.#allocate(Math.max(2 * previous.length, this.#size));
    this.#bytes.set(previous.subarray(0, used));
  }

  #allocate(capacity: number): void {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

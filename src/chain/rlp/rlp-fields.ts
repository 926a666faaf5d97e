/**
 * Reads the fields of a decoded RLP list in their order. The first failure is kept and later reads
 * answer with placeholders, so that a decoder reads all its fields in plain sequence and looks at
 * `failure` once, before it uses any of them.
 */
import { readBigEndian } from "../../base/big-endian.ts";
import { ADDRESS_SIZE } from "../address.ts";
import type { RlpItem } from "./rlp.ts";

export type RlpFieldErrorCode =
  | "RLP_FIELD_COUNT_WRONG"
  | "RLP_FIELD_NOT_BYTES"
  | "RLP_FIELD_NOT_LIST"
  | "RLP_FIELD_LEADING_ZERO"
  | "RLP_FIELD_TOO_LARGE"
  | "RLP_FIELD_SIZE_WRONG";

export type RlpFieldError = { readonly code: RlpFieldErrorCode; readonly field: string };

const EMPTY_BYTES = new Uint8Array(0);
const EMPTY_LIST: readonly RlpItem[] = [];

export class RlpFields {
  failure: RlpFieldError | undefined;
  #items: readonly RlpItem[] = EMPTY_LIST;
  #next = 0;

  /** Reading goes on in `item`, which must be a list of a count between the two. */
  enter(item: RlpItem, name: string, countMin: number, countMax: number): void {
    if (item instanceof Uint8Array) {
      this.#fail("RLP_FIELD_NOT_LIST", name);
      this.#items = EMPTY_LIST;
      return;
    }
    if (item.length < countMin || item.length > countMax) this.#fail("RLP_FIELD_COUNT_WRONG", name);
    this.#items = item;
    this.#next = 0;
  }

  hasNext(): boolean {
    return this.#next < this.#items.length;
  }

  bytes(field: string): Uint8Array {
    const item = this.#items[this.#next++] ?? EMPTY_BYTES;
    if (item instanceof Uint8Array) return item;
    this.#fail("RLP_FIELD_NOT_BYTES", field);
    return EMPTY_BYTES;
  }

  fixedBytes(field: string, size: number): Uint8Array {
    const bytes = this.bytes(field);
    if (bytes.length !== size) this.#fail("RLP_FIELD_SIZE_WRONG", field);
    return bytes;
  }

  /** A canonical unsigned integer of at most `sizeMax` (up to 32) bytes. */
  integer(field: string, sizeMax = 32): bigint {
    const bytes = this.bytes(field);
    if (bytes.length > sizeMax) {
      this.#fail("RLP_FIELD_TOO_LARGE", field);
      return 0n;
    }
    if (bytes[0] === 0) this.#fail("RLP_FIELD_LEADING_ZERO", field);
    return readBigEndian(bytes, 0, bytes.length);
  }

  address(field: string): bigint {
    const bytes = this.fixedBytes(field, ADDRESS_SIZE);
    return bytes.length === ADDRESS_SIZE ? readBigEndian(bytes, 0, ADDRESS_SIZE) : 0n;
  }

  /** An address, or undefined for the empty string (a transaction that creates a contract). */
  optionalAddress(field: string): bigint | undefined {
    const item = this.#items[this.#next];
    if (item instanceof Uint8Array && item.length === 0) {
      this.#next++;
      return undefined;
    }
    return this.address(field);
  }

  /** A 256-bit word written in all its 32 bytes. */
  word(field: string): bigint {
    const bytes = this.fixedBytes(field, 32);
    return bytes.length === 32 ? readBigEndian(bytes, 0, 32) : 0n;
  }

  list(field: string): readonly RlpItem[] {
    const item = this.#items[this.#next++] ?? EMPTY_LIST;
    if (!(item instanceof Uint8Array)) return item;
    this.#fail("RLP_FIELD_NOT_LIST", field);
    return EMPTY_LIST;
  }

  #fail(code: RlpFieldErrorCode, field: string): void {
    this.failure ??= { code, field };
  }
}

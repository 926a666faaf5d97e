/**
 * Changes that wait to be written, as bytes: what another thread needs to read the state as if they
 * were written. Per key: the key, its new value, and what it held before each block that changed
 * it.
 */
import { invariant } from "../base/invariant.ts";

export type PendingChange = {
  readonly key: Uint8Array;
  /** No value: the key is deleted. */
  readonly value: Uint8Array | undefined;
  /** The latest first. */
  readonly differences: readonly PendingDifference[];
};

export type PendingDifference = {
  readonly block: bigint;
  readonly value: Uint8Array | undefined;
};

const SIZE_MIN = 4_096;
const ABSENT = 0xffff_ffff;

export class PendingChangeWriter {
  #bytes = new Uint8Array(SIZE_MIN);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  /** The differences follow, as many as are announced. */
  begin(key: Uint8Array, value: Uint8Array | undefined, differenceCount: number): void {
    this.#value(key);
    this.#value(value);
    this.#reserve(4);
    this.#view.setUint32(this.#size, differenceCount);
    this.#size += 4;
  }

  difference(block: bigint, value: Uint8Array | undefined): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#size, block);
    this.#size += 8;
    this.#value(value);
  }

  /** Of memory that is not shared with anything else. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#size);
  }

  #value(value: Uint8Array | undefined): void {
    const size = value?.length ?? 0;
    this.#reserve(4 + size);
    this.#view.setUint32(this.#size, value === undefined ? ABSENT : size);
    this.#size += 4;
    if (value !== undefined) this.#bytes.set(value, this.#size);
    this.#size += size;
  }

  #reserve(size: number): void {
    if (this.#size + size <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#size + size));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** For bytes that a writer made in this process. Keys and values are views of them. */
export function* readPendingChanges(bytes: Uint8Array): Generator<PendingChange> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const readValue = (): Uint8Array | undefined => {
    const size = view.getUint32(at);
    at += 4;
    if (size === ABSENT) return undefined;
    at += size;
    return bytes.subarray(at - size, at);
  };
  while (at < bytes.length) {
    const key = readValue();
    invariant(key !== undefined, "every change has its key");
    const value = readValue();
    const count = view.getUint32(at);
    at += 4;
    const differences: PendingDifference[] = [];
    for (let index = 0; index < count; index++) {
      const block = view.getBigUint64(at);
      at += 8;
      differences.push({ block, value: readValue() });
    }
    yield { key, value, differences };
  }
}

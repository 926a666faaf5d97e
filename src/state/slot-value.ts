/**
 * Slots as they are encoded in the store and in the leaves of storage tries: the RLP of the value.
 */
import { bigEndianSize, readBigEndian, writeBigEndian } from "../base/big-endian.ts";

/** Zero is no value: such a slot is absent. */
export function encodeSlotValue(value: bigint): Uint8Array {
  if (value < 0x80n) return Uint8Array.of(Number(value));
  const size = bigEndianSize(value);
  const encoded = new Uint8Array(1 + size);
  encoded[0] = 0x80 + size;
  writeBigEndian(value, encoded, 1, size);
  return encoded;
}

export function decodeSlotValue(encoded: Uint8Array): bigint {
  if (encoded.length === 1) return BigInt(encoded[0] ?? 0);
  return readBigEndian(encoded, 1, encoded.length - 1);
}

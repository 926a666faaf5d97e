/** Unsigned integers as big-endian bytes, the form in which the precompiles take and give them. */

/** Above this size the hexadecimal detour is cheaper than shifting word by word. */
const SHIFTED_BYTES_MAX = 64;

export function bytesToBigInt(bytes: Uint8Array): bigint {
  const { length } = bytes;
  if (length === 0) return 0n;
  if (length > SHIFTED_BYTES_MAX || length % 8 !== 0) {
    return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("hex")}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let value = view.getBigUint64(0);
  for (let offset = 8; offset < length; offset += 8) {
    value = (value << 64n) | view.getBigUint64(offset);
  }
  return value;
}

/** Writes the lowest `size` bytes of a value that is not negative. */
export function writeBigInt(value: bigint, into: Uint8Array, offset: number, size: number): void {
  const text = value.toString(16).padStart(size * 2, "0");
  const bytes = Buffer.from(text.slice(text.length - size * 2), "hex");
  into.set(bytes, offset);
}

/** What stands before an RLP payload: for those who write an encoding straight into a buffer. */

export const STRING_BASE = 0x80;
export const LIST_BASE = 0xc0;
/** Longer payloads give their length in bytes of its own. */
const SHORT_LENGTH_MAX = 55;

/** How many bytes stand before a payload of this length (below 2^32). */
export function headerSize(length: number): number {
  if (length <= SHORT_LENGTH_MAX) return 1;
  if (length <= 0xff) return 2;
  if (length <= 0xffff) return 3;
  return length <= 0xffffff ? 4 : 5;
}

/** Returns where the payload begins. */
export function writeHeader(
  buffer: Uint8Array,
  offset: number,
  length: number,
  base: typeof STRING_BASE | typeof LIST_BASE,
): number {
  const size = headerSize(length) - 1;
  buffer[offset] = size === 0 ? base + length : base + SHORT_LENGTH_MAX + size;
  for (let place = size, rest = length; place > 0; place--, rest = Math.floor(rest / 256)) {
    buffer[offset + place] = rest % 256;
  }
  return offset + size + 1;
}

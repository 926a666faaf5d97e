import { finalBlockParts } from "../../wire/client-codec.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import { Reader } from "../../wire/reader.ts";

/** What every encoded `finalBlock` begins with. */
const [HEAD = new Uint8Array(0)] = finalBlockParts(new Uint8Array(0), undefined);
/** A block begins with its hash, and its header with epoch and height. */
const HEIGHT_END = HEAD.length + HASH_SIZE + 12;

/**
 * The height of the block that an encoded `finalBlock` carries, read without decoding it; undefined
 * for anything else. The rest of the bytes is not looked at.
 */
export function finalBlockHeight(bytes: Uint8Array): number | undefined {
  if (!HEAD.every((byte, index) => bytes[index] === byte)) return undefined;
  const reader = new Reader(bytes.subarray(HEAD.length, HEIGHT_END));
  reader.bytes(HASH_SIZE);
  reader.uint32();
  const height = reader.finish(reader.uint64());
  return height.ok ? height.value : undefined;
}

/**
 * The root of the Merkle-Patricia trie that maps rlp(index) to each item of a list: what headers
 * keep of their transactions, receipts and withdrawals. The list is complete when it is hashed, so
 * the trie is folded from its sorted keys and no node is ever stored or changed.
 */
import { keccak256 } from "../crypto/keccak256.ts";
import { EMPTY_TRIE_ROOT } from "./hash-constants.ts";
import { encodeRlp, type RlpInput } from "./rlp.ts";

type Entry = { readonly nibbles: Uint8Array; readonly value: Uint8Array };

const EMPTY_BYTES = new Uint8Array(0);
const BRANCH_WIDTH = 16;
/** Nodes shorter than a hash stand in their parent themselves. */
const INLINE_SIZE_MAX = 31;

export function listRoot(items: readonly Uint8Array[]): Uint8Array {
  if (items.length === 0) return EMPTY_TRIE_ROOT;
  return keccak256(encodeNode(sortedEntries(items), 0, items.length, 0));
}

/**
 * Entries by key. Of the keys, 1 .. 127 are their own byte, 0 is the byte 0x80, and all others
 * begin with a higher byte and grow with the index: so 0 belongs between 127 and 128.
 */
function sortedEntries(items: readonly Uint8Array[]): readonly Entry[] {
  const entries: Entry[] = [];
  const zeroPlace = Math.min(items.length - 1, 127);
  for (let place = 0; place < items.length; place++) {
    const index = place < zeroPlace ? place + 1 : place === zeroPlace ? 0 : place;
    entries.push({ nibbles: toNibbles(encodeRlp(index)), value: items[index] ?? EMPTY_BYTES });
  }
  return entries;
}

/** The node over entries `start` .. `end`-1, which agree in their first `depth` nibbles. */
function encodeNode(
  entries: readonly Entry[],
  start: number,
  end: number,
  depth: number,
): Uint8Array {
  const first = entries[start]?.nibbles ?? EMPTY_BYTES;
  if (end - start === 1) {
    const value = entries[start]?.value ?? EMPTY_BYTES;
    return encodeRlp([compactPath(first.subarray(depth), true), value]);
  }
  // Sorted: what the first and the last share, all between them share.
  const last = entries[end - 1]?.nibbles ?? EMPTY_BYTES;
  let shared = depth;
  while (shared < first.length && first[shared] === last[shared]) shared++;
  if (shared > depth) {
    const path = compactPath(first.subarray(depth, shared), false);
    return encodeRlp([path, nodeReference(encodeNode(entries, start, end, shared))]);
  }
  const children: RlpInput[] = [];
  let from = start;
  for (let nibble = 0; nibble < BRANCH_WIDTH; nibble++) {
    let to = from;
    while (to < end && entries[to]?.nibbles[depth] === nibble) to++;
    children.push(
      to === from ? EMPTY_BYTES : nodeReference(encodeNode(entries, from, to, depth + 1)),
    );
    from = to;
  }
  // No key is the beginning of another, so a branch never has a value of its own.
  return encodeRlp([...children, EMPTY_BYTES]);
}

function nodeReference(encoded: Uint8Array): RlpInput {
  return encoded.length <= INLINE_SIZE_MAX ? { encoded } : keccak256(encoded);
}

/** Hex-prefix form: the first nibble tells leaf from extension, and odd from even length. */
function compactPath(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2 === 1;
  const bytes = new Uint8Array((nibbles.length >> 1) + 1);
  bytes[0] = (isLeaf ? 0x20 : 0) + (isOdd ? 0x10 + (nibbles[0] ?? 0) : 0);
  for (let from = isOdd ? 1 : 0, to = 1; from < nibbles.length; from += 2, to++) {
    bytes[to] = ((nibbles[from] ?? 0) << 4) | (nibbles[from + 1] ?? 0);
  }
  return bytes;
}

function toNibbles(key: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * key.length);
  for (let index = 0; index < key.length; index++) {
    const byte = key[index] ?? 0;
    nibbles[2 * index] = byte >> 4;
    nibbles[2 * index + 1] = byte & 0x0f;
  }
  return nibbles;
}

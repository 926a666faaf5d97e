/**
 * The root of the Merkle-Patricia trie that maps rlp(index) to each item of a list: what headers
 * keep of their transactions, receipts and withdrawals. The list is complete when it is hashed, so
 * the trie is folded from its sorted keys, no node is ever stored or changed, and nothing but the
 * root is allocated: each node is written into the buffer of its depth and hashed from there into
 * its parent's.
 */
import { invariant } from "../base/invariant.ts";
import { HASH_SIZE, keccak256, keccak256Into } from "../crypto/keccak256.ts";
import { EMPTY_TRIE_ROOT } from "./hash-constants.ts";
import { headerSize, LIST_BASE, STRING_BASE, writeHeader } from "./rlp/rlp-header.ts";

/** Keys are handled as integers of at most 4 bytes. */
const ITEMS_MAX = 2 ** 24;
const BRANCH_WIDTH = 16;
/** Nodes shorter than a hash stand in their parent themselves. */
const INLINE_SIZE_MAX = HASH_SIZE - 1;
/** A list's header of at most 5 bytes is written before its content. */
const HEADER_ROOM = 5;
const BRANCH_SIZE_MAX = HEADER_ROOM + BRANCH_WIDTH * (1 + HASH_SIZE) + 1;
const DEPTH_MAX = 8;

/** By depth, filled and read within one synchronous call. */
const branchBuffers = Array.from({ length: DEPTH_MAX }, () => new Uint8Array(BRANCH_SIZE_MAX));
let leafBuffer = new Uint8Array(4096);

/** The node written last. */
let node: Uint8Array = leafBuffer;
let nodeStart = 0;
let nodeEnd = 0;

/** A list whose items are made when they are hashed: each once, and needed no longer than that. */
export type ItemList = { readonly length: number; itemAt(index: number): Uint8Array };

export function listRoot(items: readonly Uint8Array[]): Uint8Array {
  return itemListRoot({ length: items.length, itemAt: (index) => items[index] ?? NO_ITEM });
}

export function itemListRoot(items: ItemList): Uint8Array {
  if (items.length === 0) return EMPTY_TRIE_ROOT;
  invariant(items.length < ITEMS_MAX, "the list is shorter than 2^24");
  writeNode(items, 0, items.length, 0);
  return keccak256(node.subarray(nodeStart, nodeEnd));
}

const NO_ITEM = new Uint8Array(0);

/** The node over the places `start` .. `end`-1, whose keys agree in their first `depth` nibbles. */
function writeNode(items: ItemList, start: number, end: number, depth: number): void {
  const first = indexAt(start, items.length);
  if (end - start === 1) {
    writeLeaf(first, items.itemAt(first), depth);
    return;
  }
  // Sorted: what the first and the last share, all between them share.
  const last = indexAt(end - 1, items.length);
  let shared = depth;
  while (nibbleAt(first, shared) === nibbleAt(last, shared)) shared++;
  writeBranch(items, start, end, shared);
  if (shared > depth) writeExtension(first, depth, shared);
}

/** Leaves the node in the buffer of `depth`. */
function writeBranch(items: ItemList, start: number, end: number, depth: number): void {
  const buffer = branchBuffers[depth];
  invariant(buffer !== undefined, "no key has more than eight nibbles");
  let at = HEADER_ROOM;
  let from = start;
  for (let nibble = 0; nibble < BRANCH_WIDTH; nibble++) {
    let to = from;
    while (to < end && nibbleAt(indexAt(to, items.length), depth) === nibble) to++;
    if (to === from) {
      buffer[at++] = 0x80;
    } else {
      writeNode(items, from, to, depth + 1);
      at = writeReference(buffer, at);
    }
    from = to;
  }
  // No key is the beginning of another, so a branch never has a value of its own.
  buffer[at++] = 0x80;
  finishNode(buffer, at);
}

/** Puts the path of nibbles `from` .. `to`-1 before the branch that was written last. */
function writeExtension(index: number, from: number, to: number): void {
  const buffer = branchBuffers[from];
  invariant(buffer !== undefined, "no key has more than eight nibbles");
  // The branch is in a deeper buffer, so this does not overwrite it.
  const at = writePath(buffer, HEADER_ROOM, index, from, to, false);
  finishNode(buffer, writeReference(buffer, at));
}

function writeLeaf(index: number, value: Uint8Array, depth: number): void {
  invariant(value.length > 0, "a list has no holes and no empty items");
  const size = value.length;
  if (leafBuffer.length < size + 32) leafBuffer = new Uint8Array(2 * size + 32);
  let at = writePath(leafBuffer, HEADER_ROOM, index, depth, nibbleCount(index), true);
  if (size > 1 || (value[0] ?? 0) >= 0x80) {
    at = writeHeader(leafBuffer, at, size, STRING_BASE);
  }
  leafBuffer.set(value, at);
  finishNode(leafBuffer, at + size);
}

/** Hex-prefix form: the first nibble encodes leaf or extension, and odd or even length. */
function writePath(
  buffer: Uint8Array,
  offset: number,
  index: number,
  from: number,
  to: number,
  isLeaf: boolean,
): number {
  const isOdd = (to - from) % 2 === 1;
  const size = ((to - from) >> 1) + 1;
  let at = offset;
  // The first byte is at most 0x3f, so alone it is its own encoding.
  if (size > 1) buffer[at++] = 0x80 + size;
  buffer[at++] = (isLeaf ? 0x20 : 0) + (isOdd ? 0x10 + nibbleAt(index, from) : 0);
  for (let place = isOdd ? from + 1 : from; place < to; place += 2) {
    buffer[at++] = (nibbleAt(index, place) << 4) | nibbleAt(index, place + 1);
  }
  return at;
}

/** Writes the list header before the content that ends at `end`. */
function finishNode(buffer: Uint8Array, end: number): void {
  const length = end - HEADER_ROOM;
  node = buffer;
  nodeStart = HEADER_ROOM - headerSize(length);
  nodeEnd = end;
  writeHeader(buffer, nodeStart, length, LIST_BASE);
}

/** Writes what stands for the last node in its parent: its hash, or itself where it is shorter. */
function writeReference(buffer: Uint8Array, offset: number): number {
  const size = nodeEnd - nodeStart;
  if (size <= INLINE_SIZE_MAX) {
    buffer.set(node.subarray(nodeStart, nodeEnd), offset);
    return offset + size;
  }
  buffer[offset] = 0x80 + HASH_SIZE;
  keccak256Into(node, nodeStart, size, buffer, offset + 1);
  return offset + 1 + HASH_SIZE;
}

/**
 * The index whose key is at this place of the sorted keys. The keys of 1 .. 127 are their own byte,
 * that of 0 is the byte 0x80, and all others begin with a higher byte and grow with the index.
 */
function indexAt(place: number, length: number): number {
  const zeroPlace = length <= 127 ? length - 1 : 127;
  if (place > zeroPlace) return place;
  return place === zeroPlace ? 0 : place + 1;
}

function nibbleCount(index: number): number {
  if (index < 0x80) return 2;
  if (index <= 0xff) return 4;
  return index <= 0xffff ? 6 : 8;
}

/** Of rlp(index). */
function nibbleAt(index: number, place: number): number {
  const shift = 4 * (nibbleCount(index) - 1 - place);
  return (keyOf(index) >>> shift) & 0x0f;
}

function keyOf(index: number): number {
  if (index === 0) return 0x80;
  if (index < 0x80) return index;
  if (index <= 0xff) return 0x8100 + index;
  return index <= 0xffff ? 0x820000 + index : 0x83000000 + index;
}

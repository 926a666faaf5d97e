/**
 * The record of a node in the store: its encoding, and with a branch those of its leaves, because a
 * leaf is always read and written along with its branch. A store's cost grows with the number of
 * keys rather than with the bytes.
 *
 *     leaves (2 bytes, one bit per child) | size (4) | node | size (4) | leaf | ...
 */
import { invariant } from "../../base/invariant.ts";
import { decodeRlp, type RlpItem } from "../../chain/rlp/rlp.ts";
import { encodeNode } from "./trie-encoding.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import { Branch, Extension, Leaf, Stub, type Node } from "./trie-node.ts";

const HEADER_SIZE = 2;
const SIZE_SIZE = 4;

/** The nibbles from the root to a node: the first `count` of `nibbles`. */
export type NodePath = { readonly nibbles: Uint8Array; readonly count: number };

/** Call after the trie is hashed: children's references are needed. */
export function encodeTrieRecord(node: Leaf | Extension | Branch, depth: number): Uint8Array {
  let end = appendPart(encodeNode(node, depth), HEADER_SIZE);
  let leaves = 0;
  if (node.kind === "branch") {
    for (let index = 0; index < 16; index++) {
      const child = node.children[index];
      // Shorter references are the leaf itself, inside the branch's encoding.
      if (child?.kind !== "leaf" || child.ref?.length !== HASH_SIZE) continue;
      leaves |= 1 << index;
      end = appendPart(encodeNode(child, depth + 1), end);
    }
  }
  scratch[0] = leaves >> 8;
  scratch[1] = leaves & 0xff;
  return scratch.slice(0, end);
}

/** One buffer for all records, grown to the largest. */
let scratch = new Uint8Array(4096);

function appendPart(part: Uint8Array, at: number): number {
  const end = at + SIZE_SIZE + part.length;
  if (end > scratch.length) {
    const larger = new Uint8Array(2 * end);
    larger.set(scratch.subarray(0, at));
    scratch = larger;
  }
  writeSize(part.length, at);
  scratch.set(part, at + SIZE_SIZE);
  return end;
}

function writeSize(size: number, at: number): void {
  scratch[at] = size >>> 24;
  scratch[at + 1] = (size >>> 16) & 0xff;
  scratch[at + 2] = (size >>> 8) & 0xff;
  scratch[at + 3] = size & 0xff;
}

export function decodeTrieRecord(record: Uint8Array, path: NodePath): Leaf | Extension | Branch {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const leaves = view.getUint16(0);
  let at = HEADER_SIZE;
  const nextPart = (): Uint8Array => {
    const size = view.getUint32(at);
    at += SIZE_SIZE + size;
    return record.subarray(at - size, at);
  };
  const node = decodeNode(nextPart(), path);
  invariant(node !== undefined, "a stored trie node is well formed");
  if (node.kind === "leaf") return node;
  node.saved = true;
  node.recorded = true;
  if (node.kind === "extension") return node;
  const below = new Uint8Array(path.count + 1);
  below.set(path.nibbles.subarray(0, path.count));
  for (let index = 0; index < 16; index++) {
    if ((leaves & (1 << index)) === 0) continue;
    below[path.count] = index;
    const leaf = decodeNode(nextPart(), { nibbles: below, count: below.length });
    invariant(leaf?.kind === "leaf", "a stored leaf is well formed");
    leaf.ref = node.children[index]?.ref;
    node.children[index] = leaf;
  }
  return node;
}

/** The node's own encoding in a record. */
export function recordEncoding(record: Uint8Array): Uint8Array {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const start = HEADER_SIZE + SIZE_SIZE;
  return record.subarray(start, start + view.getUint32(HEADER_SIZE));
}

/** The node of an encoding, or undefined if it is not one: proofs come from outside. */
export function decodeNode(
  encoded: Uint8Array,
  path: NodePath,
): Leaf | Extension | Branch | undefined {
  const decoded = decodeRlp(encoded, 64);
  return decoded.ok ? itemToNode(decoded.value, path) : undefined;
}

function itemToNode(item: RlpItem, path: NodePath): Leaf | Extension | Branch | undefined {
  if (item instanceof Uint8Array) return undefined;
  if (item.length === 17) return itemToBranch(item, path);
  const [prefixed, content] = item;
  if (item.length !== 2 || content === undefined || !(prefixed instanceof Uint8Array)) {
    return undefined;
  }
  const nibbles = joinNibbles(path, prefixed);
  if (nibbles === undefined) return undefined;
  if ((prefixed[0] ?? 0) >= 0x20) {
    if (!(content instanceof Uint8Array) || content.length === 0) return undefined;
    return nibbles.length % 2 === 0 ? new Leaf(packNibbles(nibbles), content) : undefined;
  }
  const child = itemToChild(content, { nibbles, count: nibbles.length });
  if (child?.kind !== "branch" && child?.kind !== "stub") return undefined;
  return nibbles.length === path.count
    ? undefined
    : new Extension(nibbles.slice(path.count), child);
}

function itemToBranch(items: readonly RlpItem[], path: NodePath): Branch | undefined {
  const branch = new Branch();
  for (let index = 0; index < 16; index++) {
    const item = items[index];
    if (item === undefined) return undefined;
    if (item instanceof Uint8Array && item.length === 0) continue;
    const nibbles = new Uint8Array(path.count + 1);
    nibbles.set(path.nibbles.subarray(0, path.count));
    nibbles[path.count] = index;
    const child = itemToChild(item, { nibbles, count: nibbles.length });
    if (child === undefined) return undefined;
    branch.children[index] = child;
  }
  const value = items[16];
  if (!(value instanceof Uint8Array)) return undefined;
  if (value.length > 0) branch.value = value;
  return branch;
}

function itemToChild(item: RlpItem, path: NodePath): Node | undefined {
  if (!(item instanceof Uint8Array)) return itemToNode(item, path);
  return item.length === HASH_SIZE ? new Stub(item) : undefined;
}

/** The path extended by a hex-prefix encoded one, or undefined if that is malformed. */
function joinNibbles(path: NodePath, prefixed: Uint8Array): Uint8Array | undefined {
  const first = prefixed[0];
  if (first === undefined || first >= 0x40) return undefined;
  const odd = (first >> 4) & 1;
  if (odd === 0 && (first & 15) !== 0) return undefined;
  const joined = new Uint8Array(path.count + 2 * (prefixed.length - 1) + odd);
  joined.set(path.nibbles.subarray(0, path.count));
  let at = path.count;
  if (odd === 1) joined[at++] = first & 15;
  for (let index = 1; index < prefixed.length; index++) {
    const byte = prefixed[index] ?? 0;
    joined[at++] = byte >> 4;
    joined[at++] = byte & 15;
  }
  return joined;
}

function packNibbles(nibbles: Uint8Array): Uint8Array {
  const packed = new Uint8Array(nibbles.length / 2);
  for (let index = 0; index < packed.length; index++) {
    packed[index] = ((nibbles[2 * index] ?? 0) << 4) | (nibbles[2 * index + 1] ?? 0);
  }
  return packed;
}

/** The encoding of trie nodes (Yellow Paper, appendix D), written straight into one buffer. */
import { keccak256Into } from "../../crypto/keccak256.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import { nibbleAt, type Branch, type Extension, type Leaf, type Node } from "./trie-node.ts";

/** A list's header takes at most 9 bytes; the payload is written behind that space. */
const PAYLOAD_START = 9;
/** Sixteen hashes with their prefixes, or a leaf's path. What values need comes on top. */
const SCRATCH_SIZE = 1024;
const EMPTY_STRING = 0x80;

let scratch = new Uint8Array(SCRATCH_SIZE);

/** Where the last encoding is: in `scratch` or in its branch. */
let encoding: Uint8Array = scratch;
let encodingStart = 0;
let encodingEnd = 0;

/** The node's reference, hashing only what changed below it. `depth` counts nibbles to the node. */
export function nodeRef(node: Node, depth: number): Uint8Array {
  if (node.kind === "stub") return node.ref;
  if (node.ref !== undefined) return node.ref;
  writeNode(node, depth);
  const size = encodingEnd - encodingStart;
  if (size < HASH_SIZE) {
    node.ref = encoding.slice(encodingStart, encodingEnd);
    return node.ref;
  }
  node.hash ??= new Uint8Array(HASH_SIZE);
  keccak256Into(encoding, encodingStart, size, node.hash, 0);
  node.ref = node.hash;
  return node.ref;
}

/** The encoding of a node that is loaded. The bytes are valid until the next call. */
export function encodeNode(node: Leaf | Extension | Branch, depth: number): Uint8Array {
  writeNode(node, depth);
  return encoding.subarray(encodingStart, encodingEnd);
}

function writeNode(node: Leaf | Extension | Branch, depth: number): void {
  switch (node.kind) {
    case "leaf":
      writeLeaf(node, depth);
      break;
    case "extension":
      writeExtension(node, depth);
      break;
    case "branch":
      writeBranch(node, depth);
      break;
  }
}

function writeBranch(node: Branch, depth: number): void {
  if (node.encoded !== undefined && patchBranch(node, node.encoded, depth)) {
    encoding = node.encoded;
    encodingStart = 0;
    encodingEnd = encoding.length;
    return;
  }
  const children = node.children;
  let present = 0;
  let isPlain = node.value === undefined;
  for (let index = 0; index < 16; index++) {
    // The children first: they use the same buffer.
    const child = children[index];
    if (child === undefined) continue;
    const ref = child.ref ?? nodeRef(child, depth + 1);
    present |= 1 << index;
    isPlain &&= ref.length === HASH_SIZE;
  }
  if (node.value !== undefined) reserve(node.value.length);
  let at = PAYLOAD_START;
  for (let index = 0; index < 16; index++) {
    const ref = children[index]?.ref;
    if (ref === undefined) scratch[at++] = EMPTY_STRING;
    else at = writeRef(ref, at);
  }
  if (node.value === undefined) scratch[at++] = EMPTY_STRING;
  else at = writeString(node.value, at);
  finishList(at);
  node.encoded = isPlain ? encoding.slice(encodingStart, encodingEnd) : undefined;
  node.encodedChildren = present;
  node.changedChildren = 0;
}

/** Writes the changed hashes over the old ones; false if the encoding must be made anew. */
function patchBranch(node: Branch, encoded: Uint8Array, depth: number): boolean {
  const { children, encodedChildren } = node;
  if (node.value !== undefined) return false;
  let changed = node.changedChildren;
  const payload = encoded.length - 17 - HASH_SIZE * bitCount(encodedChildren);
  while (changed !== 0) {
    const index = 31 - Math.clz32(changed);
    changed ^= 1 << index;
    const child = children[index];
    if (child === undefined || (encodedChildren & (1 << index)) === 0) return false;
    const ref = child.ref ?? nodeRef(child, depth + 1);
    if (ref.length !== HASH_SIZE) return false;
    const before = bitCount(encodedChildren & ((1 << index) - 1));
    encoded.set(ref, payload + index + HASH_SIZE * before + 1);
  }
  node.changedChildren = 0;
  return true;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function writeExtension(node: Extension, depth: number): void {
  const ref = nodeRef(node.child, depth + node.path.length);
  const count = node.path.length;
  const odd = count & 1;
  let at = PAYLOAD_START;
  const size = (count >> 1) + 1;
  if (size > 1) scratch[at++] = EMPTY_STRING + size;
  scratch[at++] = odd === 1 ? 0x10 | (node.path[0] ?? 0) : 0x00;
  for (let index = odd; index < count; index += 2) {
    scratch[at++] = ((node.path[index] ?? 0) << 4) | (node.path[index + 1] ?? 0);
  }
  finishList(writeRef(ref, at));
}

function writeLeaf(node: Leaf, depth: number): void {
  const key = node.key;
  const odd = depth & 1;
  const from = (depth + 1) >> 1;
  const size = 1 + key.length - from;
  reserve(size + node.value.length);
  let at = PAYLOAD_START;
  at = writeStringHeader(size, 0, at);
  scratch[at++] = odd === 1 ? 0x30 | nibbleAt(key, depth) : 0x20;
  // Keys are whole bytes, so what is left after an odd nibble is aligned.
  for (let index = from; index < key.length; index++) scratch[at++] = key[index] ?? 0;
  finishList(writeString(node.value, at));
}

function writeRef(ref: Uint8Array, at: number): number {
  if (ref.length === HASH_SIZE) scratch[at++] = EMPTY_STRING + HASH_SIZE;
  scratch.set(ref, at);
  return at + ref.length;
}

function writeString(bytes: Uint8Array, at: number): number {
  const start = writeStringHeader(bytes.length, bytes[0] ?? 0, at);
  scratch.set(bytes, start);
  return start + bytes.length;
}

/** `first` is the string's first byte: a single byte below 0x80 stands for itself. */
function writeStringHeader(size: number, first: number, at: number): number {
  if (size === 1 && first < EMPTY_STRING) return at;
  if (size < 56) {
    scratch[at] = EMPTY_STRING + size;
    return at + 1;
  }
  const lengthSize = lengthSizeOf(size);
  scratch[at] = 0xb7 + lengthSize;
  writeLength(size, lengthSize, at + 1);
  return at + 1 + lengthSize;
}

function finishList(end: number): void {
  const size = end - PAYLOAD_START;
  encoding = scratch;
  encodingEnd = end;
  if (size < 56) {
    encodingStart = PAYLOAD_START - 1;
    scratch[encodingStart] = 0xc0 + size;
    return;
  }
  const lengthSize = lengthSizeOf(size);
  encodingStart = PAYLOAD_START - 1 - lengthSize;
  scratch[encodingStart] = 0xf7 + lengthSize;
  writeLength(size, lengthSize, encodingStart + 1);
}

function lengthSizeOf(size: number): number {
  if (size < 0x100) return 1;
  if (size < 0x1_0000) return 2;
  return size < 0x100_0000 ? 3 : 4;
}

function writeLength(size: number, lengthSize: number, at: number): void {
  for (let index = lengthSize - 1, rest = size; index >= 0; index--, rest >>>= 8) {
    scratch[at + index] = rest & 0xff;
  }
}

function reserve(size: number): void {
  const needed = SCRATCH_SIZE + size;
  if (scratch.length < needed) scratch = new Uint8Array(needed);
}

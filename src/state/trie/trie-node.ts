/**
 * The nodes of a Merkle-Patricia trie in memory. They change in place: a change clears `ref` from
 * the changed node up to the root, and the next root hash encodes exactly those again.
 */

/** How a parent names a node: its 32-byte hash, or its whole encoding if that is shorter. */
export type NodeRef = Uint8Array;

export type Node = Leaf | Extension | Branch | Stub;

export class Leaf {
  readonly kind = "leaf";
  /** The whole key, not the rest of it: a leaf that moves up or down keeps its bytes. */
  readonly key: Uint8Array;
  value: Uint8Array;
  ref: NodeRef | undefined;
  /** The node's own bytes for its hash, used again each time it changes. */
  hash: Uint8Array | undefined;

  constructor(key: Uint8Array, value: Uint8Array, ref?: NodeRef) {
    this.key = key;
    this.value = value;
    this.ref = ref;
  }
}

export class Extension {
  readonly kind = "extension";
  /** One nibble per byte; never empty. */
  readonly path: Uint8Array;
  /** A branch, or the stub of one. */
  child: Node;
  ref: NodeRef | undefined;
  hash: Uint8Array | undefined;
  /** Whether the store's record says what this node says. */
  saved = false;
  /** Whether the store has a record at this node's path. */
  recorded = false;

  constructor(path: Uint8Array, child: Node) {
    this.path = path;
    this.child = child;
  }
}

export class Branch {
  readonly kind = "branch";
  readonly children: (Node | undefined)[];
  /** For a key that ends here: only where keys differ in length. */
  value: Uint8Array | undefined;
  ref: NodeRef | undefined;
  hash: Uint8Array | undefined;
  saved = false;
  recorded = false;
  /** The last encoding, kept if all children have hashes: most changes replace a few of those. */
  encoded: Uint8Array | undefined;
  /** The children that `encoded` has, one bit each. */
  encodedChildren = 0;
  /** The children that may have changed since, one bit each. */
  changedChildren = 0;
  /** The checkpoint period in which the branch was last walked through. */
  period = 0;

  constructor() {
    this.children = NO_CHILDREN.slice();
  }
}

/** A node that is in the store only. Leaves are stored with their parent and have no stubs. */
export class Stub {
  readonly kind = "stub";
  readonly ref: NodeRef;

  constructor(ref: NodeRef) {
    this.ref = ref;
  }
}

const NO_CHILDREN: readonly (Node | undefined)[] = new Array<Node | undefined>(16).fill(undefined);

export function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1] ?? 0;
  return (index & 1) === 0 ? byte >> 4 : byte & 15;
}

/** The first nibble at or after `from` in which the keys differ, or where the shorter one ends. */
export function divergence(a: Uint8Array, b: Uint8Array, from: number): number {
  const end = 2 * Math.min(a.length, b.length);
  let index = from;
  while (index < end && nibbleAt(a, index) === nibbleAt(b, index)) index++;
  return index;
}

export function nibblesOf(key: Uint8Array, from: number, to: number): Uint8Array {
  const nibbles = new Uint8Array(to - from);
  for (let index = from; index < to; index++) nibbles[index - from] = nibbleAt(key, index);
  return nibbles;
}

/**
 * A node's place: the count of nibbles from the root, then the nibbles two to a byte. The count
 * comes first so that no path is the beginning of another one.
 */
export function packPath(nibbles: Uint8Array, count: number): Uint8Array {
  const packed = new Uint8Array(1 + ((count + 1) >> 1));
  packed[0] = count;
  for (let index = 0; index < count; index++) {
    const at = 1 + (index >> 1);
    const nibble = nibbles[index] ?? 0;
    packed[at] = (index & 1) === 0 ? nibble << 4 : (packed[at] ?? 0) | nibble;
  }
  return packed;
}

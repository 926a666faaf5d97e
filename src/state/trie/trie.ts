/**
 * A Merkle-Patricia trie, synchronous. Changes are made in memory; `rootHash` hashes what changed,
 * once; `save` hands the changed nodes to the store, by path, whenever the owner finds it worth it.
 */
import { EMPTY_TRIE_ROOT } from "../../chain/hash-constants.ts";
import { equalBytes } from "../../base/bytes.ts";
import { invariant } from "../../base/invariant.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { encodeNode, nodeRef } from "./trie-encoding.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import {
  Branch,
  Extension,
  Leaf,
  Stub,
  divergence,
  nibbleAt,
  nibblesOf,
  packPath,
  type Node,
} from "./trie-node.ts";
import { decodeTrieRecord, encodeTrieRecord } from "./trie-record.ts";

/** Where records are stored, by packed path (see `packPath`). */
export type NodeSource = { load(path: Uint8Array): Uint8Array | undefined };
/** Takes each path at most once per `save`, and deletes only what was put. */
export type NodeSink = {
  put(path: Uint8Array, record: Uint8Array): void;
  delete(path: Uint8Array): void;
};

/** A path's length is one byte of the record's key. */
const KEY_SIZE_MAX = 127;
const ROOT_PATH = Uint8Array.of(0);
const NO_SOURCE: NodeSource = { load: () => undefined };

type Loaded = Leaf | Extension | Branch;

export class Trie {
  readonly #source: NodeSource;
  #root: Node | undefined;
  #rootRecorded = false;
  #rootSaved = true;
  /** Paths whose record no longer belongs to a node there, as text. Written ones leave it. */
  readonly #vacated = new Map<string, Uint8Array>();
  /** What the key held to which the change under way belongs, as soon as it is found. */
  #replaced: Uint8Array | undefined;
  #period = 1;
  /** Branches and leaves in memory, roughly: what `evict` brings down. */
  #loadedCount = 0;

  constructor(source: NodeSource = NO_SOURCE) {
    this.#source = source;
    const record = source.load(ROOT_PATH);
    if (record === undefined) return;
    this.#root = decodeTrieRecord(record, { nibbles: ROOT_PATH, count: 0 });
    this.#rootRecorded = true;
  }

  get loadedCount(): number {
    return this.#loadedCount;
  }

  isEmpty(): boolean {
    return this.#root === undefined;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    let node = this.#root;
    let depth = 0;
    while (node !== undefined) {
      switch (node.kind) {
        case "stub":
          // Reading keeps nothing, so that readers cannot fill the memory.
          node = this.#load(node, key, depth);
          break;
        case "leaf":
          return equalBytes(node.key, key) ? node.value : undefined;
        case "extension":
          if (!matchesPath(node, key, depth)) return undefined;
          depth += node.path.length;
          node = node.child;
          break;
        case "branch":
          if (depth === 2 * key.length) return node.value;
          node = node.children[nibbleAt(key, depth)];
          depth++;
      }
    }
    return undefined;
  }

  /**
   * Returns what the key held before. The value's bytes are kept: the caller does not change them
   * afterwards.
   */
  put(key: Uint8Array, value: Uint8Array): Uint8Array | undefined {
    invariant(value.length > 0, "a trie holds no empty value: delete the key");
    invariant(key.length <= KEY_SIZE_MAX, "a trie's key has at most 127 bytes");
    this.#root = this.#insert(this.#root, key, 0, value);
    this.#rootSaved = false;
    return this.#takeReplaced();
  }

  /** Returns what the key held before. */
  delete(key: Uint8Array): Uint8Array | undefined {
    this.#root = this.#remove(this.#root, key, 0);
    const replaced = this.#takeReplaced();
    if (replaced !== undefined) this.#rootSaved = false;
    return replaced;
  }

  /** Hashes what changed since the last call. */
  rootHash(): Uint8Array {
    const root = this.#root;
    if (root === undefined) return EMPTY_TRIE_ROOT;
    const ref = nodeRef(root, 0);
    // A copy: the node uses its bytes again.
    return ref.length === HASH_SIZE ? ref.slice() : keccak256(ref);
  }

  /** The encodings of the nodes from the root towards the key: a proof that it is in, or is not. */
  prove(key: Uint8Array): Uint8Array[] {
    this.rootHash();
    const proof: Uint8Array[] = [];
    let node = this.#root;
    let depth = 0;
    while (node !== undefined) {
      const loaded: Loaded = node.kind === "stub" ? this.#load(node, key, depth) : node;
      // A node shorter than a hash is part of its parent's encoding.
      const encoded = encodeNode(loaded, depth);
      if (depth === 0 || encoded.length >= HASH_SIZE) proof.push(encoded.slice());
      if (loaded.kind === "leaf") break;
      if (loaded.kind === "extension") {
        if (!matchesPath(loaded, key, depth)) break;
        depth += loaded.path.length;
        node = loaded.child;
      } else {
        if (depth === 2 * key.length) break;
        node = loaded.children[nibbleAt(key, depth)];
        depth++;
      }
    }
    return proof;
  }

  /** Writes every record that changed since the last call. The trie must not change meanwhile. */
  save(sink: NodeSink): void {
    if (this.#rootSaved) return;
    this.rootHash();
    const root = this.#root;
    if (root !== undefined) this.#saveNode(root, new Uint8Array(2 * KEY_SIZE_MAX + 1), 0, sink);
    if (root !== undefined) this.#vacated.delete(pathText(ROOT_PATH));
    else if (this.#rootRecorded) this.#vacated.set(pathText(ROOT_PATH), ROOT_PATH);
    // Each path once: the sink notes what it held before.
    for (const path of this.#vacated.values()) sink.delete(path);
    this.#vacated.clear();
    this.#rootRecorded = root !== undefined;
    this.#rootSaved = true;
    this.#period++;
  }

  /**
   * Forgets the saved branches that no change has walked through in the last `periods` saves.
   * They are read again from the store when needed.
   */
  evict(periods: number): void {
    invariant(this.#rootSaved, "only what is saved can be forgotten");
    this.rootHash();
    this.#loadedCount = 0;
    if (this.#root !== undefined) this.#evictBelow(this.#root, this.#period - periods);
  }

  #insert(node: Node | undefined, key: Uint8Array, depth: number, value: Uint8Array): Node {
    if (node === undefined) {
      this.#loadedCount++;
      return new Leaf(key.slice(), value);
    }
    switch (node.kind) {
      case "stub":
        return this.#insert(this.#loadKept(node, key, depth), key, depth, value);
      case "branch": {
        touch(node, this.#period);
        if (depth === 2 * key.length) {
          this.#replaced = node.value;
          node.value = value;
          return node;
        }
        const nibble = nibbleAt(key, depth);
        node.changedChildren |= 1 << nibble;
        node.children[nibble] = this.#insert(node.children[nibble], key, depth + 1, value);
        return node;
      }
      case "leaf":
        return this.#insertAtLeaf(node, key, depth, value);
      case "extension":
        return this.#insertAtExtension(node, key, depth, value);
    }
  }

  #insertAtLeaf(leaf: Leaf, key: Uint8Array, depth: number, value: Uint8Array): Node {
    // The encoding holds the path from here on: it changes with the value and with the depth.
    leaf.ref = undefined;
    if (equalBytes(leaf.key, key)) {
      this.#replaced = leaf.value;
      leaf.value = value;
      return leaf;
    }
    const fork = divergence(leaf.key, key, depth);
    const branch = this.#createBranch();
    placeLeaf(branch, leaf, fork);
    placeLeaf(branch, new Leaf(key.slice(), value), fork);
    return fork === depth ? branch : new Extension(nibblesOf(key, depth, fork), branch);
  }

  #insertAtExtension(
    node: Extension,
    key: Uint8Array,
    depth: number,
    value: Uint8Array,
  ): Extension | Branch {
    const path = node.path;
    const rest = 2 * key.length - depth;
    let shared = 0;
    while (
      shared < path.length &&
      shared < rest &&
      path[shared] === nibbleAt(key, depth + shared)
    ) {
      shared++;
    }
    if (shared === path.length) {
      node.child = this.#insert(node.child, key, depth + shared, value);
      node.ref = undefined;
      node.saved = false;
      return node;
    }
    if (node.recorded) this.#vacate(key, depth);
    const branch = this.#createBranch();
    const below = path.slice(shared + 1);
    branch.children[path[shared] ?? 0] =
      below.length === 0 ? node.child : new Extension(below, node.child);
    placeLeaf(branch, new Leaf(key.slice(), value), depth + shared);
    return shared === 0 ? branch : new Extension(path.slice(0, shared), branch);
  }

  #remove(node: Node | undefined, key: Uint8Array, depth: number): Node | undefined {
    if (node === undefined) return undefined;
    switch (node.kind) {
      case "stub":
        return this.#remove(this.#loadKept(node, key, depth), key, depth);
      case "leaf":
        if (!equalBytes(node.key, key)) return node;
        this.#replaced = node.value;
        return undefined;
      case "extension": {
        if (!matchesPath(node, key, depth)) return node;
        const child = this.#remove(node.child, key, depth + node.path.length);
        if (this.#replaced === undefined) {
          if (child !== undefined) node.child = child;
          return node;
        }
        invariant(child !== undefined, "a branch below an extension held more than one key");
        return this.#joinExtension(node, child, key, depth);
      }
      case "branch":
        return this.#removeFromBranch(node, key, depth);
    }
  }

  #removeFromBranch(node: Branch, key: Uint8Array, depth: number): Node | undefined {
    if (depth === 2 * key.length) {
      if (node.value === undefined) return node;
      this.#replaced = node.value;
      node.value = undefined;
    } else {
      const nibble = nibbleAt(key, depth);
      node.changedChildren |= 1 << nibble;
      node.children[nibble] = this.#remove(node.children[nibble], key, depth + 1);
      if (this.#replaced === undefined) return node;
    }
    touch(node, this.#period);
    return this.#collapse(node, key, depth);
  }

  /** A branch with one entry left becomes that entry. */
  #collapse(branch: Branch, key: Uint8Array, depth: number): Node {
    let only = -1;
    let count = branch.value === undefined ? 0 : 1;
    for (let index = 0; index < 16; index++) {
      if (branch.children[index] === undefined) continue;
      only = index;
      count++;
    }
    if (count > 1) return branch;
    if (branch.recorded) this.#vacate(key, depth);
    if (branch.value !== undefined) return new Leaf(key.slice(0, depth >> 1), branch.value);
    const child = branch.children[only];
    invariant(child !== undefined, "a branch held more than one entry");
    const loaded = child.kind === "stub" ? this.#loadKept(child, key, depth, only) : child;
    if (loaded.kind === "leaf") {
      loaded.ref = undefined;
      return loaded;
    }
    if (loaded.kind === "branch") return new Extension(Uint8Array.of(only), loaded);
    if (loaded.recorded) this.#vacate(key, depth, only);
    return new Extension(Uint8Array.of(only, ...loaded.path), loaded.child);
  }

  #joinExtension(node: Extension, child: Node, key: Uint8Array, depth: number): Node {
    if (child.kind === "leaf") {
      if (node.recorded) this.#vacate(key, depth);
      child.ref = undefined;
      return child;
    }
    if (child.kind === "extension") {
      const joined = new Extension(Uint8Array.of(...node.path, ...child.path), child.child);
      joined.recorded = node.recorded;
      return joined;
    }
    node.child = child;
    node.ref = undefined;
    node.saved = false;
    return node;
  }

  #takeReplaced(): Uint8Array | undefined {
    const replaced = this.#replaced;
    this.#replaced = undefined;
    return replaced;
  }

  #createBranch(): Branch {
    this.#loadedCount += 2;
    const branch = new Branch();
    branch.period = this.#period;
    return branch;
  }

  /** The record at the first `depth` nibbles of the key, then `last`. */
  #load(stub: Stub, key: Uint8Array, depth: number, last?: number): Loaded {
    const nibbles = pathNibbles(key, depth, last);
    const record = this.#source.load(packPath(nibbles, nibbles.length));
    invariant(record !== undefined, "a trie node is missing from the store");
    const node = decodeTrieRecord(record, { nibbles, count: nibbles.length });
    node.ref = stub.ref;
    return node;
  }

  #loadKept(stub: Stub, key: Uint8Array, depth: number, last?: number): Loaded {
    const node = this.#load(stub, key, depth, last);
    this.#loadedCount++;
    if (node.kind === "branch") {
      node.period = this.#period;
      for (const child of node.children) if (child?.kind === "leaf") this.#loadedCount++;
    }
    return node;
  }

  #vacate(key: Uint8Array, depth: number, last?: number): void {
    const nibbles = pathNibbles(key, depth, last);
    const path = packPath(nibbles, nibbles.length);
    this.#vacated.set(pathText(path), path);
  }

  #saveNode(node: Node, nibbles: Uint8Array, depth: number, sink: NodeSink): void {
    if (node.kind === "stub") return;
    if (node.kind === "leaf") {
      // A leaf is in its parent's record; only a lone one has its own.
      if (depth === 0) sink.put(ROOT_PATH, encodeTrieRecord(node, 0));
      return;
    }
    if (node.saved) return;
    this.#saveChildren(node, nibbles, depth, sink);
    node.saved = true;
    const path = packPath(nibbles, depth);
    const isInline = depth > 0 && nodeRef(node, depth).length < HASH_SIZE;
    if (isInline) {
      if (node.recorded) this.#vacated.set(pathText(path), path);
    } else {
      sink.put(path, encodeTrieRecord(node, depth));
      if (this.#vacated.size > 0) this.#vacated.delete(pathText(path));
    }
    node.recorded = !isInline;
  }

  #saveChildren(
    node: Extension | Branch,
    nibbles: Uint8Array,
    depth: number,
    sink: NodeSink,
  ): void {
    if (node.kind === "extension") {
      nibbles.set(node.path, depth);
      this.#saveNode(node.child, nibbles, depth + node.path.length, sink);
      return;
    }
    for (let index = 0; index < 16; index++) {
      const child = node.children[index];
      if (child === undefined) continue;
      nibbles[depth] = index;
      this.#saveNode(child, nibbles, depth + 1, sink);
    }
  }

  #evictBelow(node: Node, oldest: number): void {
    this.#loadedCount++;
    if (node.kind === "extension") {
      if (isForgettable(node.child, oldest)) node.child = stubOf(node.child);
      else this.#evictBelow(node.child, oldest);
    }
    if (node.kind !== "branch") return;
    for (let index = 0; index < 16; index++) {
      const child = node.children[index];
      if (child === undefined) continue;
      if (isForgettable(child, oldest)) node.children[index] = stubOf(child);
      else this.#evictBelow(child, oldest);
    }
  }
}

/** An extension is forgotten with the branch below it. */
function isForgettable(node: Node, oldest: number): boolean {
  if (node.kind === "branch") return node.recorded && node.period < oldest;
  if (node.kind !== "extension" || !node.recorded) return false;
  return node.child.kind === "stub" || isForgettable(node.child, oldest);
}

/** What is recorded has been hashed, so the depth is not needed to know its reference. */
function stubOf(node: Node): Stub {
  invariant(node.ref !== undefined, "a recorded node has its hash");
  return new Stub(node.ref);
}

function touch(branch: Branch, period: number): void {
  branch.ref = undefined;
  branch.saved = false;
  branch.period = period;
}

/** Puts the leaf under the branch that is `depth` nibbles from the root. */
function placeLeaf(branch: Branch, leaf: Leaf, depth: number): void {
  if (depth === 2 * leaf.key.length) branch.value = leaf.value;
  else branch.children[nibbleAt(leaf.key, depth)] = leaf;
}

function matchesPath(node: Extension, key: Uint8Array, depth: number): boolean {
  const path = node.path;
  if (depth + path.length > 2 * key.length) return false;
  for (let index = 0; index < path.length; index++) {
    if (path[index] !== nibbleAt(key, depth + index)) return false;
  }
  return true;
}

function pathNibbles(key: Uint8Array, depth: number, last: number | undefined): Uint8Array {
  const nibbles = new Uint8Array(last === undefined ? depth : depth + 1);
  for (let index = 0; index < depth; index++) nibbles[index] = nibbleAt(key, index);
  if (last !== undefined) nibbles[depth] = last;
  return nibbles;
}

function pathText(path: Uint8Array): string {
  return String.fromCharCode(...path);
}

import { equalBytes } from "../../base/bytes.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { nibbleAt, type Branch, type Extension, type Leaf } from "./trie-node.ts";
import { decodeNode } from "./trie-record.ts";
import { EMPTY_TRIE_ROOT } from "../../chain/hash-constants.ts";

export type ProofErrorCode =
  "PROOF_TOO_SHORT" | "PROOF_TOO_LONG" | "PROOF_HASH_MISMATCH" | "PROOF_NODE_MALFORMED";

export type ProofError = { readonly code: ProofErrorCode; readonly index: number };

/**
 * What the trie with this root holds under the key: its value, or undefined for a proof of
 * absence. The proof comes from outside: nothing throws, and every node of it must be used.
 */
export function verifyProof(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
): Result<Uint8Array | undefined, ProofError> {
  if (proof.length === 0 && equalBytes(root, EMPTY_TRIE_ROOT)) return ok(undefined);
  let expected = root;
  let depth = 0;
  for (const [index, encoded] of proof.entries()) {
    if (!equalBytes(keccak256(encoded), expected))
      return err({ code: "PROOF_HASH_MISMATCH", index });
    const node = decodeNode(encoded, { nibbles: pathOf(key, depth), count: depth });
    if (node === undefined) return err({ code: "PROOF_NODE_MALFORMED", index });
    const step = descend(node, key, depth);
    if (step.kind === "end") {
      const isLast = index === proof.length - 1;
      return isLast ? ok(step.value) : err({ code: "PROOF_TOO_LONG", index });
    }
    expected = step.hash;
    depth = step.depth;
  }
  return err({ code: "PROOF_TOO_SHORT", index: proof.length });
}

type Step =
  | { readonly kind: "end"; readonly value: Uint8Array | undefined }
  | { readonly kind: "down"; readonly hash: Uint8Array; readonly depth: number };

/** Follows the key through a node, and through the short nodes inside its encoding. */
function descend(from: Leaf | Extension | Branch, key: Uint8Array, start: number): Step {
  let node = from;
  let depth = start;
  for (;;) {
    if (node.kind === "leaf") {
      return { kind: "end", value: equalBytes(node.key, key) ? node.value : undefined };
    }
    let child;
    if (node.kind === "extension") {
      if (!leadsTo(node, key, depth)) return { kind: "end", value: undefined };
      depth += node.path.length;
      child = node.child;
    } else {
      if (depth === 2 * key.length) return { kind: "end", value: node.value };
      child = node.children[nibbleAt(key, depth)];
      depth++;
    }
    if (child === undefined) return { kind: "end", value: undefined };
    if (child.kind === "stub") return { kind: "down", hash: child.ref, depth };
    node = child;
  }
}

function leadsTo(node: Extension, key: Uint8Array, depth: number): boolean {
  if (depth + node.path.length > 2 * key.length) return false;
  return node.path.every((nibble, index) => nibble === nibbleAt(key, depth + index));
}

function pathOf(key: Uint8Array, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, index) => nibbleAt(key, index));
}

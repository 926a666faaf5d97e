/**
 * Signatures that were found valid before. A Vote arrives alone and again inside certificates, view
 * changes and new views; each is checked by the costly equation once.
 *
 * Bounded by two generations: when the young one is full it becomes the old one, and what was in
 * the old one is forgotten. A lookup compares sender, statement and signature in full, so the key
 * only has to spread well: whoever makes keys collide pushes out his own entries.
 */
import { equalBytes } from "../base/bytes.ts";
import { invariant } from "../base/invariant.ts";
import type { ReplicaIndex } from "../consensus/block.ts";
import { SIGNATURE_SIZE } from "./limits.ts";

type Verified = {
  readonly sender: ReplicaIndex;
  readonly statement: Uint8Array;
  readonly signature: Uint8Array;
};

export class VerifiedSignatures {
  readonly #generationMax: number;
  #young = new Map<number, Verified>();
  #old = new Map<number, Verified>();

  constructor(generationMax: number) {
    invariant(generationMax > 0, "a cache holds something");
    this.#generationMax = generationMax;
  }

  /** How many are remembered: at most twice the size of a generation. */
  get count(): number {
    return this.#young.size + this.#old.size;
  }

  has(sender: ReplicaIndex, statement: Uint8Array, signature: Uint8Array): boolean {
    const key = keyOf(signature);
    const young = this.#young.get(key);
    if (young !== undefined) return isSame(young, sender, statement, signature);
    const old = this.#old.get(key);
    if (old === undefined || !isSame(old, sender, statement, signature)) return false;
    this.#remember(key, old);
    return true;
  }

  /** Remembers a signature that verified. The bytes are kept as they are: do not change them. */
  add(sender: ReplicaIndex, statement: Uint8Array, signature: Uint8Array): void {
    this.#remember(keyOf(signature), { sender, statement, signature });
  }

  #remember(key: number, verified: Verified): void {
    this.#young.set(key, verified);
    if (this.#young.size < this.#generationMax) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function isSame(
  verified: Verified,
  sender: ReplicaIndex,
  statement: Uint8Array,
  signature: Uint8Array,
): boolean {
  return (
    verified.sender === sender &&
    equalBytes(verified.signature, signature) &&
    equalBytes(verified.statement, statement)
  );
}

/** 48 bits of the second half, which for Ed25519 is the scalar: as good as random. */
function keyOf(signature: Uint8Array): number {
  let key = 0;
  for (let index = SIGNATURE_SIZE / 2; index < SIGNATURE_SIZE / 2 + 6; index++) {
    key = key * 256 + (signature[index] ?? 0);
  }
  return key;
}

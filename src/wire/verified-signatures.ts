/**
 * Signatures that were found valid before. A Vote arrives alone and again inside certificates, view
 * changes and new views; each is checked by the costly equation once.
 *
 * A lookup compares sender, statement and signature in full, so the key only has to spread well: a
 * peer that makes keys collide evicts only its own entries.
 */
import { equalBytes } from "../base/bytes.ts";
import { RecentMap } from "../base/recent-map.ts";
import type { ReplicaIndex } from "../consensus/block.ts";
import { SIGNATURE_SIZE } from "./limits.ts";

type Verified = {
  readonly sender: ReplicaIndex;
  readonly statement: Uint8Array;
  readonly signature: Uint8Array;
};

export class VerifiedSignatures {
  readonly #verified: RecentMap<number, Verified>;

  constructor(generationMax: number) {
    this.#verified = new RecentMap(generationMax);
  }

  /** How many are remembered: at most twice the size of a generation. */
  get count(): number {
    return this.#verified.size;
  }

  has(sender: ReplicaIndex, statement: Uint8Array, signature: Uint8Array): boolean {
    const key = keyOf(signature);
    const verified = this.#verified.get(key);
    if (verified === undefined || !isSame(verified, sender, statement, signature)) return false;
    // What is asked for stays.
    this.#verified.set(key, verified);
    return true;
  }

  /** Remembers a signature that verified. The bytes are kept as they are: do not change them. */
  add(sender: ReplicaIndex, statement: Uint8Array, signature: Uint8Array): void {
    this.#verified.set(keyOf(signature), { sender, statement, signature });
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

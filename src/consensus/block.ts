/**
 * Blocks of the consensus chain (PROTOCOL §1). A header names neither the view nor the proposer, so
 * that its hash survives being proposed again in a later view.
 *
 * Heights, views and epochs are safe integers: they count blocks and failures, the decoder refuses
 * anything above 2^53-1, and plain numbers keep window arithmetic readable (docs/adr/0001).
 */
import type { Hex } from "../base/hex.ts";

/** Position of a replica in the member list: 0 .. n-1. */
export type ReplicaIndex = number;

/** A 32-byte hash as lower-case hexadecimal text: comparable with === and usable as a Map key. */
export type Hash = Hex;

export type Header = {
  readonly epoch: number;
  readonly height: number;
  readonly parent: Hash;
  readonly payloadHash: Hash;
  readonly txCount: number;
  readonly payloadSize: number;
  readonly timestampMs: number;
  /** The proposer's result for an already executed height; see PROTOCOL §8. */
  readonly execHeight: number;
  readonly execResult: Hash;
};

/** What consensus needs to know of a transaction; the bytes are opaque to it. */
export type Transaction = {
  readonly id: Hash;
  readonly gas: number;
  readonly bytes: Uint8Array;
};

/**
 * A replica that lost its log asks for a new epoch, in which the votes it forgot no longer bind it.
 */
export type Rejoin = {
  readonly kind: "rejoin";
  readonly member: ReplicaIndex;
  readonly epoch: number;
  readonly nonce: Hash;
  readonly signature: Uint8Array;
};

/** Either transactions or exactly one Rejoin, never both (PROTOCOL §9.3). */
export type Body = {
  readonly transactions: readonly Transaction[];
  readonly rejoin: Rejoin | undefined;
};

export type Block = { readonly hash: Hash; readonly header: Header; readonly body: Body };

/** A block by name: enough to reason about chains. */
export type BlockRef = { readonly height: number; readonly hash: Hash };

/** A header together with its hash, so that links are hashed once. */
export type ChainLink = BlockRef & { readonly header: Header };

export function chainLinkOf(header: Header, hashHeader: (header: Header) => Hash): ChainLink {
  return { height: header.height, hash: hashHeader(header), header };
}

export function bodySize(body: Body): number {
  let size = 0;
  for (const transaction of body.transactions) size += transaction.bytes.length;
  return size;
}

/**
 * From the streams of final blocks that replicas send to blocks that are proved final. A block
 * without a certificate of its own waits, apart for each replica, until one above it on the same
 * chain has one: so a Byzantine replica spoils its own stream only.
 */
import type { Block, Hash, ReplicaIndex } from "../../consensus/block.ts";
import type { FinalCert } from "../../consensus/certificate.ts";
import type { BlockStore } from "../../storage/block-store.ts";
import type { PeerMessageAuthenticator } from "../../wire/authenticate.ts";
import { readBlockHead } from "../../wire/block-bytes.ts";

export type ProvedBlocks = {
  /** Consecutive, from the height after the last one that was proved before. */
  readonly blocks: readonly Block[];
  /** Of the last of them. */
  readonly certificate: FinalCert;
};

/** The last block that is proved final. */
export type ProvedTip = { readonly height: number; readonly hash: Hash };

export type ProverOutcome =
  /** Nothing new: known already, or waiting for its proof. */
  | { readonly kind: "kept" }
  | { readonly kind: "proved"; readonly proved: ProvedBlocks }
  /** A hole: the replica was asked for another height, or some were lost with a link. */
  | { readonly kind: "gap" }
  /** No correct replica sends this. */
  | { readonly kind: "byzantine"; readonly reason: string };

/** More than a correct replica ever has without a certificate: a few windows. */
const UNPROVED_MAX = 64;

export class BlockProver {
  readonly #authenticator: Pick<PeerMessageAuthenticator, "authenticate">;
  readonly #waiting = new Map<ReplicaIndex, Block[]>();
  #height: number;
  #hash: Hash;

  constructor(
    proved: ProvedTip,
    dependencies: { readonly authenticator: Pick<PeerMessageAuthenticator, "authenticate"> },
  ) {
    this.#height = proved.height;
    this.#hash = proved.hash;
    this.#authenticator = dependencies.authenticator;
  }

  /** The last height that is proved, and its block. */
  get height(): number {
    return this.#height;
  }

  get hash(): Hash {
    return this.#hash;
  }

  /** The next height that is wanted of a replica. */
  nextOf(replica: ReplicaIndex): number {
    return (this.#waiting.get(replica)?.at(-1)?.header.height ?? this.#height) + 1;
  }

  forget(replica: ReplicaIndex): void {
    this.#waiting.delete(replica);
  }

  add(block: Block, certificate: FinalCert | undefined, from: ReplicaIndex): ProverOutcome {
    const { height } = block.header;
    if (height <= this.#height) return { kind: "kept" };
    const waiting = this.#unprovedOf(from);
    const next = this.#height + 1 + waiting.length;
    if (height < next) return { kind: "kept" };
    if (height > next) return { kind: "gap" };
    const parent = waiting.at(-1)?.hash ?? this.#hash;
    if (block.header.parent !== parent) return this.#reject(from, "BLOCKS_NOT_LINKED");
    waiting.push(block);
    if (certificate === undefined) {
      // An epoch ends with a proof of its own, which the blocks above cannot give (PROTOCOL §9).
      if (block.body.rejoin !== undefined) return this.#reject(from, "BLOCK_BOUNDARY_UNPROVED");
      if (waiting.length > UNPROVED_MAX) return this.#reject(from, "BLOCKS_UNPROVED");
      return { kind: "kept" };
    }
    if (certificate.blockHash !== block.hash || certificate.height !== height) {
      return this.#reject(from, "BLOCKS_NOT_LINKED");
    }
    const checked = this.#authenticator.authenticate(
      { kind: "blockResponse", blocks: waiting, certificate },
      from,
    );
    if (!checked.ok) return this.#reject(from, checked.error.code);
    this.#waiting.delete(from);
    this.#height = height;
    this.#hash = block.hash;
    return { kind: "proved", proved: { blocks: waiting, certificate } };
  }

  /** What waits of a replica, without those that another replica has proved meanwhile. */
  #unprovedOf(replica: ReplicaIndex): Block[] {
    const waiting = this.#waiting.get(replica) ?? [];
    const last = waiting.findIndex(({ header }) => header.height === this.#height);
    // On another chain than the proved one: it is worth nothing, and is asked for again.
    const isForked = last >= 0 && waiting[last]?.hash !== this.#hash;
    const isPassed = last < 0 && (waiting[0]?.header.height ?? this.#height + 1) <= this.#height;
    if (isForked || isPassed) waiting.length = 0;
    else waiting.splice(0, last + 1);
    this.#waiting.set(replica, waiting);
    return waiting;
  }

  #reject(replica: ReplicaIndex, reason: string): ProverOutcome {
    this.#waiting.delete(replica);
    return { kind: "byzantine", reason };
  }
}

/** Where an earlier process of this node left off; block 0 of the consensus chain if none did. */
export function lastProvedBlock(blocks: BlockStore, genesisHash: Hash): ProvedTip {
  const height = blocks.latestHeight;
  const bytes = height === undefined ? undefined : blocks.get(height, "block");
  if (height === undefined || bytes === undefined) return { height: 0, hash: genesisHash };
  return { height, hash: readBlockHead(Uint8Array.from(bytes)).hash };
}

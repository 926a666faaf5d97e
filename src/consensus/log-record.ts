/**
 * What a replica writes to its log (PROTOCOL §7). The order of records is part of their meaning.
 */
import type { Block, Hash, Header } from "./block.ts";
import type { Certificate, FinalCert, QuorumCert } from "./certificate.ts";

export type LogRecord =
  /** The first record of a bootstrap: the replica may act in epoch 0 and lead view 0. */
  | { readonly kind: "boot" }
  /** This replica lost its log and asks to be let in again under this nonce. */
  | { readonly kind: "rejoin"; readonly nonce: Hash }
  | {
      readonly kind: "epoch";
      readonly epoch: number;
      readonly boundary: FinalPoint;
      /** The boundary carried the nonce of this log: from here on this replica takes part. */
      readonly isJoining: boolean;
    }
  | { readonly kind: "view"; readonly view: number }
  | { readonly kind: "block"; readonly block: Block }
  | {
      readonly kind: "vote";
      readonly view: number;
      readonly height: number;
      readonly blockHash: Hash;
    }
  /** Written before the Commit of its block is sent. */
  | { readonly kind: "certificate"; readonly certificate: QuorumCert }
  /** The blocks up to this one are final. Not synced on its own: it can be found again. */
  | { readonly kind: "final"; readonly certificate: FinalCert }
  | Snapshot;

/** A final block with the proof that it is. */
export type FinalPoint = { readonly header: Header; readonly certificate: FinalCert };

/**
 * All that safety needs (PROTOCOL §5), in one record: the first of every new segment, so that older
 * segments can be dropped without losing a vote or a commit.
 */
export type Snapshot = {
  readonly kind: "snapshot";
  readonly epoch: number;
  readonly view: number;
  readonly booted: boolean;
  /** The nonce of a rejoin that is under way, or undefined. */
  readonly rejoinNonce: Hash | undefined;
  readonly final: FinalPoint;
  /** The base of the current epoch. */
  readonly boundary: FinalPoint;
  readonly votedView: number;
  /** The last block voted in `votedView`; undefined when there was no vote in this epoch. */
  readonly votedTip: { readonly height: number; readonly hash: Hash } | undefined;
  /** A final block conflicts with what was voted in this view: no further vote in it. */
  readonly isTipConflicting: boolean;
  /** Our votes of the current view above `final`, lowest first, to be sent again. */
  readonly votes: readonly { readonly height: number; readonly hash: Hash }[];
  readonly highCert: Certificate;
  /** Block time of each member's last Rejoin, or -1; indexed by member. */
  readonly rejoinedAtMs: readonly number[];
  /** Unfinalized blocks that a vote or certificate of ours depends on, lowest first. */
  readonly blocks: readonly Block[];
};

/**
 * What replicas say to each other (PROTOCOL §3). Signatures are made and verified outside
 * (src/wire); a message that reaches the core carries only valid ones, nested certificates
 * included.
 */
import type { Block, Body, Hash, Header, Rejoin, ReplicaIndex, Transaction } from "./block.ts";
import type { Certificate, FinalCert } from "./certificate.ts";

type Signed = {
  readonly epoch: number;
  readonly sender: ReplicaIndex;
  readonly signature: Uint8Array;
};

/**
 * The leader's block for a view. Signs (view, height, blockHash); the rest is bound by the hash.
 */
export type Propose = Signed & {
  readonly kind: "propose";
  readonly view: number;
  readonly header: Header;
  readonly blockHash: Hash;
  readonly body: Body;
};

/** A Propose without its block: enough to prove that its signer proposed it. */
export type ProposeClaim = Signed & {
  readonly kind: "proposeClaim";
  readonly view: number;
  readonly height: number;
  readonly blockHash: Hash;
};

/** Phase 1. */
export type Vote = Signed & {
  readonly kind: "vote";
  readonly view: number;
  readonly height: number;
  readonly blockHash: Hash;
};

/** Phase 2: "I durably hold a quorum certificate for this block of this view". */
export type Commit = Signed & {
  readonly kind: "commit";
  readonly view: number;
  readonly height: number;
  readonly blockHash: Hash;
};

/** The leader gives its view up; it will neither propose nor send a NewView in it. */
export type Abdicate = Signed & { readonly kind: "abdicate"; readonly view: number };

export const COMPLAINT_REASONS = [
  "no-progress",
  "silent-leader",
  "leader-disconnected",
  "equivocation",
  "invalid-proposal",
  "censorship",
  "new-view-timeout",
  "stale-timestamp",
  "withdrawn",
] as const;
export type ComplaintReason = (typeof COMPLAINT_REASONS)[number];
/** Why a replica complains about its leader; "withdrawn" takes the complaint back. */
export type SuspicionReason = Exclude<ComplaintReason, "withdrawn">;

/**
 * A wish to leave the view, which binds its sender to nothing: f+1 of them make every replica
 * complain. "withdrawn" ends it.
 */
export type Complaint = Signed & {
  readonly kind: "complaint";
  readonly view: number;
  readonly reason: ComplaintReason;
};

/**
 * A binding statement: no Vote and no Commit in views below `newView`, and what was signed there.
 */
export type ViewChange = Signed & {
  readonly kind: "viewChange";
  readonly newView: number;
  readonly finalCert: FinalCert;
  readonly highCert: Certificate;
  /** The last view in which the sender voted in this epoch, or -1. */
  readonly votedView: number;
  /** From the final block (excluded) to the last block voted in `votedView`, lowest first. */
  readonly headersVoted: readonly Header[];
  /** From the final block to the block of `highCert`, unless `headersVoted` contains it. */
  readonly headersCert: readonly Header[];
};

/** The leader's justification of the base block of a view: 2f+1 view changes, verbatim. */
export type NewView = Signed & {
  readonly kind: "newView";
  readonly view: number;
  readonly viewChanges: readonly ViewChange[];
};

/** The signed result of executing a block; also the reply to clients. */
export type ExecVote = Signed & {
  readonly kind: "execVote";
  readonly height: number;
  readonly blockHash: Hash;
  readonly result: Hash;
};

/** Proof that a replica signed two different things where the protocol allows one. */
export type Evidence = { readonly kind: "evidence" } & (
  | { readonly first: Vote; readonly second: Vote }
  | { readonly first: Commit; readonly second: Commit }
  | { readonly first: ProposeClaim; readonly second: ProposeClaim }
);

/** Where a replica stands. Unsigned: the link is authenticated and nothing unsafe hangs on it. */
export type Status = {
  readonly kind: "status";
  readonly epoch: number;
  readonly view: number;
  readonly finalHeight: number;
  readonly execHeight: number;
};

/** A finality certificate for a peer that seems to lack it; valid in every epoch. */
export type Finality = { readonly kind: "finality"; readonly certificate: FinalCert };

/** Asks for unfinalized blocks by hash, with their bodies. */
export type BodyRequest = { readonly kind: "bodyRequest"; readonly hashes: readonly Hash[] };
export type BodyResponse = { readonly kind: "bodyResponse"; readonly blocks: readonly Block[] };

/** Asks for the final blocks from `fromHeight`, both ends included. */
export type BlockRequest = {
  readonly kind: "blockRequest";
  readonly fromHeight: number;
  readonly toHeight: number;
};
/** Consecutive final blocks; the certificate is that of the last. */
export type BlockResponse = {
  readonly kind: "blockResponse";
  readonly blocks: readonly Block[];
  readonly certificate: FinalCert;
};

export type NewViewRequest = {
  readonly kind: "newViewRequest";
  readonly epoch: number;
  readonly view: number;
};

/** A transaction that the sender saw and the leader has not yet proposed. */
export type Forward = { readonly kind: "forward"; readonly transaction: Transaction };
export type ForwardRejoin = { readonly kind: "forwardRejoin"; readonly rejoin: Rejoin };

/** A starting replica asks what others hold that it signed (PROTOCOL §9.1). */
export type Probe = { readonly kind: "probe"; readonly nonce: Hash };
export type ProbeAnswer = {
  readonly kind: "probeAnswer";
  readonly nonce: Hash;
  /** The answerer never left genesis and holds nothing: the asker may be new as well. */
  readonly isUntouched: boolean;
  readonly vote: Vote | undefined;
  readonly commit: Commit | undefined;
  readonly viewChange: ViewChange | undefined;
};

export type Message =
  | Propose
  | Vote
  | Commit
  | Abdicate
  | Complaint
  | ViewChange
  | NewView
  | ExecVote
  | Evidence
  | Status
  | Finality
  | BodyRequest
  | BodyResponse
  | BlockRequest
  | BlockResponse
  | NewViewRequest
  | Forward
  | ForwardRejoin
  | Probe
  | ProbeAnswer;

type Unsigned<Kind> = Kind extends unknown ? Omit<Kind, "signature"> : never;

/** What a replica signs. A Propose is signed as its claim. */
export type Statement = Unsigned<
  Vote | Commit | Abdicate | Complaint | ViewChange | NewView | ExecVote | ProposeClaim
>;
export type RejoinStatement = Omit<Rejoin, "signature">;

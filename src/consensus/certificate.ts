/**
 * Certificates: signatures of many replicas on one statement, checkable by anyone (PROTOCOL §2).
 */
import { chainLinkOf, type BlockRef, type Hash, type Header, type ReplicaIndex } from "./block.ts";
import type { Quorum } from "./quorum.ts";

export type Endorsement = { readonly sender: ReplicaIndex; readonly signature: Uint8Array };

/** One Commit inside a slow certificate; it may name a descendant of the certified block. */
export type CommitEndorsement = Endorsement & BlockRef;

type Certified = {
  readonly epoch: number;
  readonly view: number;
  readonly height: number;
  readonly blockHash: Hash;
};

/** 2f+1 Votes of one view for one block. */
export type QuorumCert = Certified & {
  readonly kind: "quorum";
  readonly votes: readonly Endorsement[];
};

/** All n Votes of one view for one block: final. */
export type FastCert = Certified & {
  readonly kind: "fast";
  readonly votes: readonly Endorsement[];
};

/** 2f+1 Commits of one view on one chain: their lowest block is final. */
export type SlowCert = Certified & {
  readonly kind: "slow";
  readonly commits: readonly CommitEndorsement[];
  /** The headers above the certified block up to the highest committed one. */
  readonly links: readonly Header[];
};

/** Genesis is final by definition. */
export type GenesisCert = Certified & { readonly kind: "genesis" };

export type FinalCert = FastCert | SlowCert | GenesisCert;
export type Certificate = QuorumCert | FinalCert;

/** 2f+1 equal results of executing one block (PROTOCOL §8). */
export type ExecCert = {
  readonly kind: "exec";
  readonly epoch: number;
  readonly height: number;
  readonly blockHash: Hash;
  readonly result: Hash;
  readonly votes: readonly Endorsement[];
};

export function genesisCert(blockHash: Hash): GenesisCert {
  return { kind: "genesis", epoch: 0, view: -1, height: 0, blockHash };
}

export function isFinalCert(cert: Certificate): cert is FinalCert {
  return cert.kind !== "quorum";
}

export function certifiedRef(cert: Certificate): BlockRef {
  return { height: cert.height, hash: cert.blockHash };
}

/**
 * The view by which a certificate ranks inside an epoch. A certificate of an earlier epoch can only
 * be that of the boundary, which plays the role of genesis: view -1 (PROTOCOL §2.4).
 */
export function viewInEpoch(cert: Certificate, epoch: number): number {
  return cert.epoch < epoch ? -1 : cert.view;
}

/** What a certificate is ranked by. */
type Rank = Pick<Certified, "epoch" | "view" | "height">;

/** Order by (epoch, view, height); positive when `a` ranks higher. */
export function compareCerts(a: Rank, b: Rank): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.view !== b.view) return a.view - b.view;
  return a.height - b.height;
}

export type CertificateFault =
  | "CERT_SIGNERS_NOT_DISTINCT"
  | "CERT_SIGNER_UNKNOWN"
  | "CERT_TOO_FEW_SIGNERS"
  | "CERT_LINKS_BROKEN"
  | "CERT_COMMIT_OFF_CHAIN"
  | "CERT_NOT_LOWEST"
  | "CERT_GENESIS_MISMATCH";

/** Everything about a certificate except its signatures, which src/wire verifies. */
export function checkCertificate(
  cert: Certificate | ExecCert,
  context: {
    readonly quorum: Quorum;
    readonly genesisHash: Hash;
    readonly windowMax: number;
    readonly hashHeader: (header: Header) => Hash;
  },
): CertificateFault | undefined {
  const { quorum } = context;
  switch (cert.kind) {
    case "genesis":
      return cert.height === 0 && cert.blockHash === context.genesisHash && cert.view === -1
        ? undefined
        : "CERT_GENESIS_MISMATCH";
    case "quorum":
    case "exec":
      return checkSigners(cert.votes, quorum.quorum, quorum.replicaCount);
    case "fast":
      return checkSigners(cert.votes, quorum.replicaCount, quorum.replicaCount);
    case "slow":
      return (
        checkSigners(cert.commits, quorum.quorum, quorum.replicaCount) ??
        checkCommitChain(cert, context)
      );
  }
}

function checkSigners(
  endorsements: readonly Endorsement[],
  needed: number,
  replicaCount: number,
): CertificateFault | undefined {
  const signers = new Set(endorsements.map(({ sender }) => sender));
  if (signers.size !== endorsements.length) return "CERT_SIGNERS_NOT_DISTINCT";
  for (const sender of signers) {
    if (sender < 0 || sender >= replicaCount) return "CERT_SIGNER_UNKNOWN";
  }
  return signers.size < needed ? "CERT_TOO_FEW_SIGNERS" : undefined;
}

function checkCommitChain(
  cert: SlowCert,
  context: { readonly windowMax: number; readonly hashHeader: (header: Header) => Hash },
): CertificateFault | undefined {
  if (cert.links.length > context.windowMax) return "CERT_LINKS_BROKEN";
  const chain = new Map<number, Hash>([[cert.height, cert.blockHash]]);
  let tip: BlockRef = certifiedRef(cert);
  for (const header of cert.links) {
    if (header.parent !== tip.hash || header.height !== tip.height + 1) return "CERT_LINKS_BROKEN";
    tip = chainLinkOf(header, context.hashHeader);
    chain.set(tip.height, tip.hash);
  }
  for (const commit of cert.commits) {
    if (chain.get(commit.height) !== commit.hash) return "CERT_COMMIT_OFF_CHAIN";
  }
  // The certified block must be one of those committed: no Commit covers anything below them.
  return cert.commits.some(({ height }) => height === cert.height) ? undefined : "CERT_NOT_LOWEST";
}

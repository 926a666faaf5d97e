/**
 * Arbitraries of everything that can stand on the wire or in the log: any value of its type within
 * the limits of the format, whether it makes sense to the protocol or not.
 */
import fc from "fast-check";
import { bytesToHex } from "../../src/base/hex.ts";
import type { Block, Body, Hash, Header, Rejoin, Transaction } from "../../src/consensus/block.ts";
import {
  genesisCert,
  type Certificate,
  type CommitEndorsement,
  type Endorsement,
  type FastCert,
  type FinalCert,
  type GenesisCert,
  type QuorumCert,
  type SlowCert,
} from "../../src/consensus/certificate.ts";
import type { FinalPoint, LogRecord } from "../../src/consensus/log-record.ts";
import {
  COMPLAINT_REASONS,
  type Commit,
  type Message,
  type ProposeClaim,
  type ViewChange,
  type Vote,
} from "../../src/consensus/message.ts";
import { createTransaction } from "../../src/wire/block-codec.ts";
import { REPLICAS_MAX } from "../../src/chain/genesis.ts";
import { SIGNATURE_SIZE } from "../../src/wire/limits.ts";

const UINT32_MAX = 0xffff_ffff;

/** Small lists: the format does not change with their length, only the time to test it. */
const LIST_MAX = 4;

export const arbitraryHash: fc.Arbitrary<Hash> = bytesOf(32).map((bytes) => bytesToHex(bytes));
export const arbitrarySignature = bytesOf(SIGNATURE_SIZE);
const epoch = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: UINT32_MAX }));
const uint32 = fc.integer({ min: 0, max: UINT32_MAX });
const replica = fc.nat(REPLICAS_MAX - 1);
const uint64 = fc.oneof(fc.nat(100), fc.maxSafeNat());
const view = uint64;
const viewOrNone = fc.oneof(
  fc.constant(-1),
  fc.nat(100),
  fc.maxSafeNat().map((value) => Math.min(value, Number.MAX_SAFE_INTEGER - 1)),
);

export const arbitraryHeader: fc.Arbitrary<Header> = record({
  epoch,
  height: uint64,
  parent: arbitraryHash,
  payloadHash: arbitraryHash,
  txCount: uint32,
  payloadSize: uint32,
  timestampMs: uint64,
  execHeight: uint64,
  execResult: arbitraryHash,
});
const headers = fc.array(arbitraryHeader, { maxLength: LIST_MAX });

export const arbitraryTransaction: fc.Arbitrary<Transaction> = fc
  .tuple(fc.uint8Array({ maxLength: 200 }), uint64)
  .map(([bytes, gas]) => createTransaction(bytes, gas));

export const arbitraryRejoin: fc.Arbitrary<Rejoin> = record({
  kind: fc.constant("rejoin"),
  member: replica,
  epoch,
  nonce: arbitraryHash,
  signature: arbitrarySignature,
});

export const arbitraryBody: fc.Arbitrary<Body> = record({
  transactions: fc.array(arbitraryTransaction, { maxLength: LIST_MAX }),
  rejoin: orUndefined(arbitraryRejoin),
});

export const arbitraryBlock: fc.Arbitrary<Block> = record({
  hash: arbitraryHash,
  header: arbitraryHeader,
  body: arbitraryBody,
});
const blocks = fc.array(arbitraryBlock, { maxLength: LIST_MAX });

const certified = { epoch, view, height: uint64, blockHash: arbitraryHash };
const endorsement: fc.Arbitrary<Endorsement> = record({
  sender: replica,
  signature: arbitrarySignature,
});
const endorsements = fc.array(endorsement, { maxLength: LIST_MAX });
const commitEndorsement: fc.Arbitrary<CommitEndorsement> = record({
  sender: replica,
  signature: arbitrarySignature,
  height: uint64,
  hash: arbitraryHash,
});

const genesis: fc.Arbitrary<GenesisCert> = arbitraryHash.map(genesisCert);
const quorumCert: fc.Arbitrary<QuorumCert> = record({
  kind: fc.constant("quorum"),
  ...certified,
  votes: endorsements,
});
const fastCert: fc.Arbitrary<FastCert> = record({
  kind: fc.constant("fast"),
  ...certified,
  votes: endorsements,
});
const slowCert: fc.Arbitrary<SlowCert> = record({
  kind: fc.constant("slow"),
  ...certified,
  commits: fc.array(commitEndorsement, { maxLength: LIST_MAX }),
  links: headers,
});
export const arbitraryFinalCert: fc.Arbitrary<FinalCert> = fc.oneof(genesis, fastCert, slowCert);
export const arbitraryCertificate: fc.Arbitrary<Certificate> = fc.oneof(
  quorumCert,
  arbitraryFinalCert,
);

const signed = { epoch, sender: replica, signature: arbitrarySignature };
const blockClaim = { ...signed, view, height: uint64, blockHash: arbitraryHash };
const vote: fc.Arbitrary<Vote> = record({ kind: fc.constant("vote"), ...blockClaim });
const commit: fc.Arbitrary<Commit> = record({ kind: fc.constant("commit"), ...blockClaim });
const claim: fc.Arbitrary<ProposeClaim> = record({
  kind: fc.constant("proposeClaim"),
  ...blockClaim,
});

export const arbitraryViewChange: fc.Arbitrary<ViewChange> = record({
  kind: fc.constant("viewChange"),
  ...signed,
  newView: view,
  finalCert: arbitraryFinalCert,
  highCert: arbitraryCertificate,
  votedView: viewOrNone,
  headersVoted: headers,
  headersCert: headers,
});

type ArbitraryOf<Union extends { readonly kind: string }> = {
  readonly [Kind in Union["kind"]]: fc.Arbitrary<Extract<Union, { readonly kind: Kind }>>;
};

/** One arbitrary per kind: the compiler sees to it that a new kind gets one. */
export const ARBITRARY_MESSAGES: ArbitraryOf<Message> = {
  propose: record({
    kind: fc.constant("propose"),
    ...signed,
    view,
    header: arbitraryHeader,
    blockHash: arbitraryHash,
    body: arbitraryBody,
  }),
  vote,
  commit,
  abdicate: record({ kind: fc.constant("abdicate"), ...signed, view }),
  complaint: record({
    kind: fc.constant("complaint"),
    ...signed,
    view,
    reason: fc.constantFrom(...COMPLAINT_REASONS),
  }),
  viewChange: arbitraryViewChange,
  newView: record({
    kind: fc.constant("newView"),
    ...signed,
    view,
    viewChanges: fc.array(arbitraryViewChange, { maxLength: 3 }),
  }),
  execVote: record({
    kind: fc.constant("execVote"),
    ...signed,
    height: uint64,
    blockHash: arbitraryHash,
    result: arbitraryHash,
  }),
  evidence: fc.oneof(
    record({ kind: fc.constant("evidence"), first: vote, second: vote }),
    record({ kind: fc.constant("evidence"), first: commit, second: commit }),
    record({ kind: fc.constant("evidence"), first: claim, second: claim }),
  ),
  status: record({
    kind: fc.constant("status"),
    epoch,
    view,
    finalHeight: uint64,
    execHeight: uint64,
  }),
  finality: record({ kind: fc.constant("finality"), certificate: arbitraryFinalCert }),
  bodyRequest: record({
    kind: fc.constant("bodyRequest"),
    hashes: fc.array(arbitraryHash, { maxLength: LIST_MAX }),
  }),
  bodyResponse: record({ kind: fc.constant("bodyResponse"), blocks }),
  blockRequest: record({
    kind: fc.constant("blockRequest"),
    fromHeight: uint64,
    toHeight: uint64,
  }),
  blockResponse: record({
    kind: fc.constant("blockResponse"),
    blocks,
    certificate: arbitraryFinalCert,
  }),
  newViewRequest: record({ kind: fc.constant("newViewRequest"), epoch, view }),
  forward: record({ kind: fc.constant("forward"), transaction: arbitraryTransaction }),
  forwardRejoin: record({ kind: fc.constant("forwardRejoin"), rejoin: arbitraryRejoin }),
  probe: record({ kind: fc.constant("probe"), nonce: arbitraryHash }),
  probeAnswer: record({
    kind: fc.constant("probeAnswer"),
    nonce: arbitraryHash,
    isUntouched: fc.boolean(),
    vote: orUndefined(vote),
    commit: orUndefined(commit),
    viewChange: orUndefined(arbitraryViewChange),
  }),
};

export const arbitraryMessage: fc.Arbitrary<Message> = fc.oneof(
  ...Object.values<fc.Arbitrary<Message>>(ARBITRARY_MESSAGES),
);

const finalPoint: fc.Arbitrary<FinalPoint> = record({
  header: arbitraryHeader,
  certificate: arbitraryFinalCert,
});
const blockRef = record({ height: uint64, hash: arbitraryHash });

export const ARBITRARY_LOG_RECORDS: ArbitraryOf<LogRecord> = {
  boot: fc.constant({ kind: "boot" }),
  rejoin: record({ kind: fc.constant("rejoin"), nonce: arbitraryHash }),
  epoch: record({
    kind: fc.constant("epoch"),
    epoch,
    boundary: finalPoint,
    isJoining: fc.boolean(),
  }),
  view: record({ kind: fc.constant("view"), view }),
  block: record({ kind: fc.constant("block"), block: arbitraryBlock }),
  vote: record({
    kind: fc.constant("vote"),
    view,
    height: uint64,
    blockHash: arbitraryHash,
  }),
  certificate: record({ kind: fc.constant("certificate"), certificate: quorumCert }),
  final: record({ kind: fc.constant("final"), certificate: arbitraryFinalCert }),
  snapshot: record({
    kind: fc.constant("snapshot"),
    epoch,
    view,
    booted: fc.boolean(),
    isTipConflicting: fc.boolean(),
    rejoinNonce: orUndefined(arbitraryHash),
    final: finalPoint,
    boundary: finalPoint,
    votedView: viewOrNone,
    votedTip: orUndefined(blockRef),
    votes: fc.array(blockRef, { maxLength: LIST_MAX }),
    highCert: arbitraryCertificate,
    rejoinedAtMs: fc.array(viewOrNone, { maxLength: LIST_MAX }),
    blocks,
  }),
};

export const arbitraryLogRecord: fc.Arbitrary<LogRecord> = fc.oneof(
  ...Object.values<fc.Arbitrary<LogRecord>>(ARBITRARY_LOG_RECORDS),
);

/** Plain objects, as decoders make them: without it fast-check makes some without a prototype. */
export function record<Value>(model: {
  readonly [Key in keyof Value]: fc.Arbitrary<Value[Key]>;
}): fc.Arbitrary<Value> {
  return fc.record<Value>(model, { noNullPrototype: true });
}

/** Plain bytes: a subclass would compare as different from what a decoder makes. */
function bytesOf(size: number): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Uint8Array.from(bytes));
}

function orUndefined<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(arbitrary, { nil: undefined });
}

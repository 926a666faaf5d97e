/**
 * The signed messages, without their type byte: epoch and sender, then the fields, then the
 * signature. The `…Content` writers give the part that is signed, which src/wire/statement.ts puts
 * behind its domain prefix: what is sent and what is signed cannot drift apart.
 */
import {
  COMPLAINT_REASONS,
  type Complaint,
  type ComplaintReason,
  type ExecVote,
  type NewView,
  type Propose,
  type ViewChange,
} from "../consensus/message.ts";
import { readBlockBody, writeBlockBody } from "./block-codec.ts";
import {
  CERTIFICATE_SIZE_MIN,
  readCertificate,
  readFinalCert,
  writeCertificate,
} from "./certificate-codec.ts";
import {
  readConsensusHeader,
  readHeaders,
  writeConsensusHeader,
  writeHeaders,
} from "./header-codec.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { SIGNATURE_SIZE } from "./limits.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";
import type { Hash } from "../consensus/block.ts";

/** What every signed message begins with. */
const ENVELOPE_SIZE = 4 + 1;
/** New view, two certificates, voted view and two empty lists. */
const VIEW_CHANGE_CONTENT_SIZE_MIN = 8 + 2 * CERTIFICATE_SIZE_MIN + 8 + 4 + 4;
const VIEW_CHANGE_SIZE_MIN = ENVELOPE_SIZE + VIEW_CHANGE_CONTENT_SIZE_MIN + SIGNATURE_SIZE;

export type Envelope = { readonly epoch: number; readonly sender: number };

export function writeEnvelope(writer: Writer, envelope: Envelope): void {
  writer.uint32(envelope.epoch);
  writer.replica(envelope.sender);
}

export function readEnvelope(reader: Reader): Envelope {
  return { epoch: reader.uint32(), sender: reader.replica() };
}

/** What a Vote, a Commit and the claim of a Propose say: a block of a view. */
export type BlockClaim = {
  readonly view: number;
  readonly height: number;
  readonly blockHash: Hash;
};
export type SignedBlockClaim = Envelope & BlockClaim & { readonly signature: Uint8Array };

export function writeBlockClaimContent(writer: Writer, claim: BlockClaim): void {
  writer.uint64(claim.view);
  writer.uint64(claim.height);
  writer.hash(claim.blockHash);
}

export function writeBlockClaim(writer: Writer, claim: SignedBlockClaim): void {
  writeEnvelope(writer, claim);
  writeBlockClaimContent(writer, claim);
  writer.signature(claim.signature);
}

export function readBlockClaim<Kind extends "vote" | "commit" | "proposeClaim">(
  reader: Reader,
  kind: Kind,
): SignedBlockClaim & { readonly kind: Kind } {
  return {
    kind,
    epoch: reader.uint32(),
    sender: reader.replica(),
    view: reader.uint64(),
    height: reader.uint64(),
    blockHash: reader.hash(),
    signature: reader.signature(),
  };
}

export function writePropose(writer: Writer, propose: Propose): void {
  writeEnvelope(writer, propose);
  writer.uint64(propose.view);
  writer.hash(propose.blockHash);
  writeConsensusHeader(writer, propose.header);
  writer.signature(propose.signature);
  writeBlockBody(writer, propose.body);
}

export function readPropose(reader: Reader): Propose {
  return {
    kind: "propose",
    ...readEnvelope(reader),
    view: reader.uint64(),
    blockHash: reader.hash(),
    header: readConsensusHeader(reader),
    signature: reader.signature(),
    body: readBlockBody(reader),
  };
}

export function writeComplaintContent(
  writer: Writer,
  complaint: Pick<Complaint, "view" | "reason">,
): void {
  writer.uint64(complaint.view);
  writer.uint8(COMPLAINT_REASONS.indexOf(complaint.reason));
}

export function writeComplaint(writer: Writer, complaint: Complaint): void {
  writeEnvelope(writer, complaint);
  writeComplaintContent(writer, complaint);
  writer.signature(complaint.signature);
}

export function readComplaint(reader: Reader): Complaint {
  return {
    kind: "complaint",
    ...readEnvelope(reader),
    view: reader.uint64(),
    reason: readReason(reader),
    signature: reader.signature(),
  };
}

export function writeExecVoteContent(
  writer: Writer,
  vote: Pick<ExecVote, "height" | "blockHash" | "result">,
): void {
  writer.uint64(vote.height);
  writer.hash(vote.blockHash);
  writer.hash(vote.result);
}

export function writeExecVote(writer: Writer, vote: ExecVote): void {
  writeEnvelope(writer, vote);
  writeExecVoteContent(writer, vote);
  writer.signature(vote.signature);
}

export function readExecVote(reader: Reader): ExecVote {
  return {
    kind: "execVote",
    ...readEnvelope(reader),
    height: reader.uint64(),
    blockHash: reader.hash(),
    result: reader.hash(),
    signature: reader.signature(),
  };
}

export function writeViewChangeContent(
  writer: Writer,
  change: Omit<ViewChange, "kind" | "epoch" | "sender" | "signature">,
): void {
  writer.uint64(change.newView);
  writeCertificate(writer, change.finalCert);
  writeCertificate(writer, change.highCert);
  writer.uint64OrMinusOne(change.votedView);
  writeHeaders(writer, change.headersVoted);
  writeHeaders(writer, change.headersCert);
}

export function writeViewChange(writer: Writer, change: ViewChange): void {
  writeEnvelope(writer, change);
  writeViewChangeContent(writer, change);
  writer.signature(change.signature);
}

export function readViewChange(reader: Reader): ViewChange {
  return {
    kind: "viewChange",
    ...readEnvelope(reader),
    newView: reader.uint64(),
    finalCert: readFinalCert(reader),
    highCert: readCertificate(reader),
    votedView: reader.uint64OrMinusOne(),
    headersVoted: readHeaders(reader),
    headersCert: readHeaders(reader),
    signature: reader.signature(),
  };
}

export function writeNewViewContent(
  writer: Writer,
  newView: Pick<NewView, "view" | "viewChanges">,
): void {
  writer.uint64(newView.view);
  writer.list(newView.viewChanges, REPLICAS_MAX, (change) => writeViewChange(writer, change));
}

export function writeNewView(writer: Writer, newView: NewView): void {
  writeEnvelope(writer, newView);
  writeNewViewContent(writer, newView);
  writer.signature(newView.signature);
}

export function readNewView(reader: Reader): NewView {
  return {
    kind: "newView",
    ...readEnvelope(reader),
    view: reader.uint64(),
    viewChanges: reader.list(REPLICAS_MAX, VIEW_CHANGE_SIZE_MIN, () => readViewChange(reader)),
    signature: reader.signature(),
  };
}

function readReason(reader: Reader): ComplaintReason {
  const reason = COMPLAINT_REASONS[reader.uint8()];
  if (reason !== undefined) return reason;
  reader.fail("WIRE_VALUE_UNKNOWN");
  return COMPLAINT_REASONS[0];
}

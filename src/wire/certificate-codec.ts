/**
 * Certificates. The order of signers is kept as it stands: whether they are distinct, known and
 * enough is for `checkCertificate` to say.
 */
import { invariant, unreachable } from "../base/invariant.ts";
import {
  genesisCert,
  isFinalCert,
  type Certificate,
  type CommitEndorsement,
  type Endorsement,
  type FinalCert,
  type QuorumCert,
  type SlowCert,
} from "../consensus/certificate.ts";
import { ZERO_HASH_TEXT } from "./hash-text.ts";
import { readHeaders, writeHeaders } from "./header-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { SIGNATURE_SIZE } from "./limits.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

const GENESIS = 0;
const QUORUM = 1;
const FAST = 2;
const SLOW = 3;

const ENDORSEMENT_SIZE = 1 + SIGNATURE_SIZE;
const COMMIT_SIZE = ENDORSEMENT_SIZE + 8 + HASH_SIZE;
/** A genesis certificate: its kind and its hash. */
export const CERTIFICATE_SIZE_MIN = 1 + HASH_SIZE;

export function writeCertificate(writer: Writer, certificate: Certificate): void {
  switch (certificate.kind) {
    case "genesis":
      invariant(
        certificate.epoch === 0 && certificate.view === -1 && certificate.height === 0,
        "genesis stands at epoch 0, view -1, height 0",
      );
      writer.uint8(GENESIS);
      writer.hash(certificate.blockHash);
      return;
    case "quorum":
      writer.uint8(QUORUM);
      writeCertified(writer, certificate);
      writeEndorsements(writer, certificate.votes);
      return;
    case "fast":
      writer.uint8(FAST);
      writeCertified(writer, certificate);
      writeEndorsements(writer, certificate.votes);
      return;
    case "slow":
      writer.uint8(SLOW);
      writeCertified(writer, certificate);
      writeCommits(writer, certificate);
      return;
    default:
      unreachable(certificate);
  }
}

export function readCertificate(reader: Reader): Certificate {
  const kind = reader.uint8();
  switch (kind) {
    case GENESIS:
      return genesisCert(reader.hash());
    case QUORUM:
      return { kind: "quorum", ...readCertified(reader), votes: readEndorsements(reader) };
    case FAST:
      return { kind: "fast", ...readCertified(reader), votes: readEndorsements(reader) };
    case SLOW:
      return {
        kind: "slow",
        ...readCertified(reader),
        commits: reader.list(REPLICAS_MAX, COMMIT_SIZE, () => readCommit(reader)),
        links: readHeaders(reader),
      };
    default:
      reader.fail("WIRE_VALUE_UNKNOWN");
      return genesisCert(ZERO_HASH_TEXT);
  }
}

export function readFinalCert(reader: Reader): FinalCert {
  const certificate = readCertificate(reader);
  if (isFinalCert(certificate)) return certificate;
  reader.fail("WIRE_VALUE_UNKNOWN");
  return genesisCert(ZERO_HASH_TEXT);
}

export function readQuorumCert(reader: Reader): QuorumCert {
  const certificate = readCertificate(reader);
  if (certificate.kind === "quorum") return certificate;
  reader.fail("WIRE_VALUE_UNKNOWN");
  return { kind: "quorum", epoch: 0, view: 0, height: 0, blockHash: ZERO_HASH_TEXT, votes: [] };
}

type Certified = Pick<Certificate, "epoch" | "view" | "height" | "blockHash">;

function writeCertified(writer: Writer, certified: Certified): void {
  writer.uint32(certified.epoch);
  writer.uint64(certified.view);
  writer.uint64(certified.height);
  writer.hash(certified.blockHash);
}

function readCertified(reader: Reader): Certified {
  return {
    epoch: reader.uint32(),
    view: reader.uint64(),
    height: reader.uint64(),
    blockHash: reader.hash(),
  };
}

function writeEndorsements(writer: Writer, endorsements: readonly Endorsement[]): void {
  writer.list(endorsements, REPLICAS_MAX, ({ sender, signature }) => {
    writer.replica(sender);
    writer.signature(signature);
  });
}

function readEndorsements(reader: Reader): Endorsement[] {
  return reader.list(REPLICAS_MAX, ENDORSEMENT_SIZE, () => ({
    sender: reader.replica(),
    signature: reader.signature(),
  }));
}

function writeCommits(writer: Writer, certificate: SlowCert): void {
  writer.list(certificate.commits, REPLICAS_MAX, (commit) => {
    writer.replica(commit.sender);
    writer.signature(commit.signature);
    writer.uint64(commit.height);
    writer.hash(commit.hash);
  });
  writeHeaders(writer, certificate.links);
}

function readCommit(reader: Reader): CommitEndorsement {
  return {
    sender: reader.replica(),
    signature: reader.signature(),
    height: reader.uint64(),
    hash: reader.hash(),
  };
}

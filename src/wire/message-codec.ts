/**
 * Messages <-> bytes: a version byte, a type byte, then the fields. `decodeMessage` never throws on
 * bytes from outside, reserves memory only in proportion to their number, and accepts exactly what
 * `encodeMessage` can produce: equal messages have equal bytes.
 */
import { invariant, unreachable } from "../base/invariant.ts";
import { err, type Result } from "../base/result.ts";
import type {
  Abdicate,
  BlockRequest,
  BlockResponse,
  Evidence,
  Message,
  NewViewRequest,
  ProbeAnswer,
  Status,
} from "../consensus/message.ts";
import {
  readBlocks,
  readRejoin,
  readTransaction,
  writeBlocks,
  writeRejoin,
  writeTransaction,
} from "./block-codec.ts";
import { readFinalCert, writeCertificate } from "./certificate-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { BLOCKS_MAX, MESSAGE_SIZE_MAX } from "./limits.ts";
import { Reader, type WireError } from "./reader.ts";
import {
  readBlockClaim,
  readComplaint,
  readEnvelope,
  readExecVote,
  readNewView,
  readPropose,
  readViewChange,
  writeBlockClaim,
  writeComplaint,
  writeEnvelope,
  writeExecVote,
  writeNewView,
  writePropose,
  writeViewChange,
} from "./signed-codec.ts";
import { Writer } from "./writer.ts";

export const WIRE_VERSION = 1;
/** For those who put a response together from stored bytes, and who look before they decode. */
export const BODY_RESPONSE_TYPE = 13;
export const BLOCK_RESPONSE_TYPE = 15;

/** One kind's type byte and its fields, in the order in which they stand. */
type Codec<Kind extends Message> = {
  readonly type: number;
  readonly write: (writer: Writer, message: Kind) => void;
  readonly read: (reader: Reader) => Kind;
};

/** The type bytes are part of the format: one that was used is never used for another kind. */
const CODECS: {
  readonly [Kind in Message["kind"]]: Codec<Extract<Message, { readonly kind: Kind }>>;
} = {
  propose: { type: 1, write: writePropose, read: readPropose },
  vote: { type: 2, write: writeBlockClaim, read: (reader) => readBlockClaim(reader, "vote") },
  commit: { type: 3, write: writeBlockClaim, read: (reader) => readBlockClaim(reader, "commit") },
  abdicate: { type: 4, write: writeAbdicate, read: readAbdicate },
  complaint: { type: 5, write: writeComplaint, read: readComplaint },
  viewChange: { type: 6, write: writeViewChange, read: readViewChange },
  newView: { type: 7, write: writeNewView, read: readNewView },
  execVote: { type: 8, write: writeExecVote, read: readExecVote },
  evidence: { type: 9, write: writeEvidence, read: readEvidence },
  status: { type: 10, write: writeStatus, read: readStatus },
  finality: {
    type: 11,
    write: (writer, { certificate }) => writeCertificate(writer, certificate),
    read: (reader) => ({ kind: "finality", certificate: readFinalCert(reader) }),
  },
  bodyRequest: {
    type: 12,
    write: (writer, { hashes }) => writer.list(hashes, BLOCKS_MAX, (hash) => writer.hash(hash)),
    read: (reader) => ({
      kind: "bodyRequest",
      hashes: reader.list(BLOCKS_MAX, HASH_SIZE, () => reader.hash()),
    }),
  },
  bodyResponse: {
    type: BODY_RESPONSE_TYPE,
    write: (writer, { blocks }) => writeBlocks(writer, blocks),
    read: (reader) => ({ kind: "bodyResponse", blocks: readBlocks(reader) }),
  },
  blockRequest: { type: 14, write: writeBlockRequest, read: readBlockRequest },
  blockResponse: { type: BLOCK_RESPONSE_TYPE, write: writeBlockResponse, read: readBlockResponse },
  newViewRequest: { type: 16, write: writeNewViewRequest, read: readNewViewRequest },
  forward: {
    type: 17,
    write: (writer, { transaction }) => writeTransaction(writer, transaction),
    read: (reader) => ({ kind: "forward", transaction: readTransaction(reader) }),
  },
  forwardRejoin: {
    type: 18,
    write: (writer, { rejoin }) => writeRejoin(writer, rejoin),
    read: (reader) => ({ kind: "forwardRejoin", rejoin: readRejoin(reader) }),
  },
  probe: {
    type: 19,
    write: (writer, { nonce }) => writer.hash(nonce),
    read: (reader) => ({ kind: "probe", nonce: reader.hash() }),
  },
  probeAnswer: { type: 20, write: writeProbeAnswer, read: readProbeAnswer },
};

const CODECS_BY_TYPE: ReadonlyMap<number, { readonly read: (reader: Reader) => Message }> = new Map(
  Object.values(CODECS).map((codec) => [codec.type, codec]),
);

const sharedWriter = new Writer();

export function encodeMessage(message: Message): Uint8Array {
  const codec = CODECS[message.kind] as Codec<Message>;
  sharedWriter.reset();
  sharedWriter.uint8(WIRE_VERSION);
  sharedWriter.uint8(codec.type);
  codec.write(sharedWriter, message);
  const bytes = sharedWriter.take();
  invariant(bytes.length <= MESSAGE_SIZE_MAX, "a message is within the limit of its receivers");
  return bytes;
}

export function decodeMessage(bytes: Uint8Array): Result<Message, WireError> {
  if (bytes.length > MESSAGE_SIZE_MAX) return err({ code: "WIRE_LIMIT_EXCEEDED", offset: 0 });
  const reader = new Reader(bytes);
  if (reader.uint8() !== WIRE_VERSION) return reader.refuse("WIRE_UNKNOWN_VERSION");
  const codec = CODECS_BY_TYPE.get(reader.uint8());
  if (codec === undefined) return reader.refuse("WIRE_UNKNOWN_TYPE");
  return reader.finish(codec.read(reader));
}

function writeAbdicate(writer: Writer, abdicate: Abdicate): void {
  writeEnvelope(writer, abdicate);
  writer.uint64(abdicate.view);
  writer.signature(abdicate.signature);
}

function readAbdicate(reader: Reader): Abdicate {
  return {
    kind: "abdicate",
    ...readEnvelope(reader),
    view: reader.uint64(),
    signature: reader.signature(),
  };
}

const EVIDENCE_VOTES = 1;
const EVIDENCE_COMMITS = 2;
const EVIDENCE_PROPOSES = 3;

function writeEvidence(writer: Writer, { first, second }: Evidence): void {
  invariant(first.kind === second.kind, "evidence is a pair of one kind");
  switch (first.kind) {
    case "vote":
      writer.uint8(EVIDENCE_VOTES);
      break;
    case "commit":
      writer.uint8(EVIDENCE_COMMITS);
      break;
    case "proposeClaim":
      writer.uint8(EVIDENCE_PROPOSES);
      break;
    default:
      unreachable(first);
  }
  writeBlockClaim(writer, first);
  writeBlockClaim(writer, second);
}

function readEvidence(reader: Reader): Evidence {
  const kind = "evidence";
  const pairKind = reader.uint8();
  switch (pairKind) {
    case EVIDENCE_COMMITS:
      return {
        kind,
        first: readBlockClaim(reader, "commit"),
        second: readBlockClaim(reader, "commit"),
      };
    case EVIDENCE_PROPOSES:
      return {
        kind,
        first: readBlockClaim(reader, "proposeClaim"),
        second: readBlockClaim(reader, "proposeClaim"),
      };
    default:
      if (pairKind !== EVIDENCE_VOTES) reader.fail("WIRE_VALUE_UNKNOWN");
      return {
        kind,
        first: readBlockClaim(reader, "vote"),
        second: readBlockClaim(reader, "vote"),
      };
  }
}

function writeStatus(writer: Writer, status: Status): void {
  writer.uint32(status.epoch);
  writer.uint64(status.view);
  writer.uint64(status.finalHeight);
  writer.uint64(status.execHeight);
}

function readStatus(reader: Reader): Status {
  return {
    kind: "status",
    epoch: reader.uint32(),
    view: reader.uint64(),
    finalHeight: reader.uint64(),
    execHeight: reader.uint64(),
  };
}

function writeProbeAnswer(writer: Writer, answer: ProbeAnswer): void {
  const { vote, commit, viewChange } = answer;
  writer.hash(answer.nonce);
  writer.flag(answer.isUntouched);
  writer.flag(vote !== undefined);
  if (vote !== undefined) writeBlockClaim(writer, vote);
  writer.flag(commit !== undefined);
  if (commit !== undefined) writeBlockClaim(writer, commit);
  writer.flag(viewChange !== undefined);
  if (viewChange !== undefined) writeViewChange(writer, viewChange);
}

function readProbeAnswer(reader: Reader): ProbeAnswer {
  return {
    kind: "probeAnswer",
    nonce: reader.hash(),
    isUntouched: reader.flag(),
    vote: reader.flag() ? readBlockClaim(reader, "vote") : undefined,
    commit: reader.flag() ? readBlockClaim(reader, "commit") : undefined,
    viewChange: reader.flag() ? readViewChange(reader) : undefined,
  };
}

function writeBlockRequest(writer: Writer, request: BlockRequest): void {
  writer.uint64(request.fromHeight);
  writer.uint64(request.toHeight);
}

function readBlockRequest(reader: Reader): BlockRequest {
  return { kind: "blockRequest", fromHeight: reader.uint64(), toHeight: reader.uint64() };
}

function writeBlockResponse(writer: Writer, response: BlockResponse): void {
  writeBlocks(writer, response.blocks);
  writeCertificate(writer, response.certificate);
}

function readBlockResponse(reader: Reader): BlockResponse {
  return {
    kind: "blockResponse",
    blocks: readBlocks(reader),
    certificate: readFinalCert(reader),
  };
}

function writeNewViewRequest(writer: Writer, request: NewViewRequest): void {
  writer.uint32(request.epoch);
  writer.uint64(request.view);
}

function readNewViewRequest(reader: Reader): NewViewRequest {
  return { kind: "newViewRequest", epoch: reader.uint32(), view: reader.uint64() };
}

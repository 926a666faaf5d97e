/**
 * Records of the log <-> bytes, in the same canonical form as messages. The log guards its records
 * by checksums of its own; the decoder is still as strict as for a peer, because a disk can return
 * wrong bytes.
 */
import { invariant } from "../base/invariant.ts";
import { err, type Result } from "../base/result.ts";
import type { BlockRef } from "../consensus/block.ts";
import type { FinalPoint, LogRecord, Snapshot } from "../consensus/log-record.ts";
import { readBlock, readBlocks, writeBlock, writeBlocks } from "./block-codec.ts";
import {
  readCertificate,
  readFinalCert,
  readQuorumCert,
  writeCertificate,
} from "./certificate-codec.ts";
import { readConsensusHeader, writeConsensusHeader } from "./header-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { HEADERS_MAX, LOG_RECORD_SIZE_MAX } from "./limits.ts";
import { Reader, type WireError } from "./reader.ts";
import { writeBlockClaimContent } from "./signed-codec.ts";
import { Writer } from "./writer.ts";

export const LOG_RECORD_VERSION = 1;

const REF_SIZE = 8 + HASH_SIZE;

/** One kind's type byte and its fields, in the order in which they stand. */
type Codec<Kind extends LogRecord> = {
  readonly type: number;
  readonly write: (writer: Writer, record: Kind) => void;
  readonly read: (reader: Reader) => Kind;
};

type RecordOf<Kind extends LogRecord["kind"]> = Extract<LogRecord, { readonly kind: Kind }>;

/** The type bytes are part of the format: one that was used is never used for another kind. */
const CODECS: { readonly [Kind in LogRecord["kind"]]: Codec<RecordOf<Kind>> } = {
  boot: { type: 1, write: () => undefined, read: () => ({ kind: "boot" }) },
  rejoin: {
    type: 2,
    write: (writer, { nonce }) => writer.hash(nonce),
    read: (reader) => ({ kind: "rejoin", nonce: reader.hash() }),
  },
  epoch: { type: 3, write: writeEpoch, read: readEpoch },
  view: {
    type: 4,
    write: (writer, { view }) => writer.uint64(view),
    read: (reader) => ({ kind: "view", view: reader.uint64() }),
  },
  block: {
    type: 5,
    write: (writer, { block }) => writeBlock(writer, block),
    read: (reader) => ({ kind: "block", block: readBlock(reader) }),
  },
  vote: { type: 6, write: writeBlockClaimContent, read: readVote },
  certificate: {
    type: 7,
    write: (writer, { certificate }) => writeCertificate(writer, certificate),
    read: (reader) => ({ kind: "certificate", certificate: readQuorumCert(reader) }),
  },
  final: {
    type: 8,
    write: (writer, { certificate }) => writeCertificate(writer, certificate),
    read: (reader) => ({ kind: "final", certificate: readFinalCert(reader) }),
  },
  snapshot: { type: 9, write: writeSnapshot, read: readSnapshot },
};

const CODECS_BY_TYPE: ReadonlyMap<number, { readonly read: (reader: Reader) => LogRecord }> =
  new Map(Object.values(CODECS).map((codec) => [codec.type, codec]));

const sharedWriter = new Writer();

export function encodeLogRecord(record: LogRecord): Uint8Array {
  const codec = CODECS[record.kind] as Codec<LogRecord>;
  sharedWriter.reset();
  sharedWriter.uint8(LOG_RECORD_VERSION);
  sharedWriter.uint8(codec.type);
  codec.write(sharedWriter, record);
  const bytes = sharedWriter.take();
  invariant(bytes.length <= LOG_RECORD_SIZE_MAX, "a record is within the limit of its reader");
  return bytes;
}

export function decodeLogRecord(bytes: Uint8Array): Result<LogRecord, WireError> {
  if (bytes.length > LOG_RECORD_SIZE_MAX) return err({ code: "WIRE_LIMIT_EXCEEDED", offset: 0 });
  const reader = new Reader(bytes);
  if (reader.uint8() !== LOG_RECORD_VERSION) return reader.refuse("WIRE_UNKNOWN_VERSION");
  const codec = CODECS_BY_TYPE.get(reader.uint8());
  if (codec === undefined) return reader.refuse("WIRE_UNKNOWN_TYPE");
  return reader.finish(codec.read(reader));
}

function writeEpoch(writer: Writer, record: RecordOf<"epoch">): void {
  writer.uint32(record.epoch);
  writeFinalPoint(writer, record.boundary);
  writer.flag(record.isJoining);
}

function readEpoch(reader: Reader): RecordOf<"epoch"> {
  return {
    kind: "epoch",
    epoch: reader.uint32(),
    boundary: readFinalPoint(reader),
    isJoining: reader.flag(),
  };
}

function readVote(reader: Reader): RecordOf<"vote"> {
  return {
    kind: "vote",
    view: reader.uint64(),
    height: reader.uint64(),
    blockHash: reader.hash(),
  };
}

function writeFinalPoint(writer: Writer, point: FinalPoint): void {
  writeConsensusHeader(writer, point.header);
  writeCertificate(writer, point.certificate);
}

function readFinalPoint(reader: Reader): FinalPoint {
  return { header: readConsensusHeader(reader), certificate: readFinalCert(reader) };
}

function writeSnapshot(writer: Writer, snapshot: Snapshot): void {
  const { rejoinNonce, votedTip } = snapshot;
  writer.uint32(snapshot.epoch);
  writer.uint64(snapshot.view);
  writer.flag(snapshot.booted);
  writer.flag(snapshot.isTipConflicting);
  writer.flag(rejoinNonce !== undefined);
  if (rejoinNonce !== undefined) writer.hash(rejoinNonce);
  writeFinalPoint(writer, snapshot.final);
  writeFinalPoint(writer, snapshot.boundary);
  writer.uint64OrMinusOne(snapshot.votedView);
  writer.flag(votedTip !== undefined);
  if (votedTip !== undefined) writeRef(writer, votedTip);
  writer.list(snapshot.votes, HEADERS_MAX, (vote) => writeRef(writer, vote));
  writeCertificate(writer, snapshot.highCert);
  writer.list(snapshot.rejoinedAtMs, REPLICAS_MAX, (timeMs) => writer.uint64OrMinusOne(timeMs));
  writeBlocks(writer, snapshot.blocks);
}

function readSnapshot(reader: Reader): Snapshot {
  return {
    kind: "snapshot",
    epoch: reader.uint32(),
    view: reader.uint64(),
    booted: reader.flag(),
    isTipConflicting: reader.flag(),
    rejoinNonce: reader.flag() ? reader.hash() : undefined,
    final: readFinalPoint(reader),
    boundary: readFinalPoint(reader),
    votedView: reader.uint64OrMinusOne(),
    votedTip: reader.flag() ? readRef(reader) : undefined,
    votes: reader.list(HEADERS_MAX, REF_SIZE, () => readRef(reader)),
    highCert: readCertificate(reader),
    rejoinedAtMs: reader.list(REPLICAS_MAX, 8, () => reader.uint64OrMinusOne()),
    blocks: readBlocks(reader),
  };
}

function writeRef(writer: Writer, ref: BlockRef): void {
  writer.uint64(ref.height);
  writer.hash(ref.hash);
}

function readRef(reader: Reader): BlockRef {
  return { height: reader.uint64(), hash: reader.hash() };
}

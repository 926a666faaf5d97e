/**
 * Messages between client nodes and replicas <-> bytes, in the same canonical form as messages
 * between replicas: a version byte, a type byte, then the fields; equal values have equal bytes,
 * and the decoder never throws on bytes from outside.
 *
 * A client node trusts no single message: a block is proved by its certificate or that of a later
 * block, a result by the signatures of f+1 replicas.
 */
import { invariant } from "../base/invariant.ts";
import { err, type Result } from "../base/result.ts";
import type { Block, Hash, ReplicaIndex } from "../consensus/block.ts";
import type { FinalCert } from "../consensus/certificate.ts";
import type { ExecVote } from "../consensus/message.ts";
import { readBlock, writeBlock } from "./block-codec.ts";
import { readFinalCert, writeCertificate } from "./certificate-codec.ts";
import { REPLICAS_MAX } from "../chain/genesis.ts";
import { MESSAGE_SIZE_MAX } from "./limits.ts";
import { Reader, type WireError } from "./reader.ts";
import { readExecVote, writeExecVote } from "./signed-codec.ts";
import { Writer } from "./writer.ts";

/** The first byte of every frame says which protocol the rest speaks. */
export const CONSENSUS_CHANNEL = 0x01;
export const CLIENT_CHANNEL = 0x02;

export const CLIENT_VERSION = 1;

/** A client's frames are at most 1 MiB (src/transport), and so is all that it submits at once. */
export const SUBMIT_TRANSACTIONS_MAX = 1_024;
export const SUBMIT_SIZE_MAX = 1024 * 1024 - 8 * 1024;

/** What a client asks of a replica. */
export type ClientRequest =
  /** Transactions in network form. Sent to all replicas, and again until they are final. */
  | { readonly kind: "submit"; readonly transactions: readonly Uint8Array[] }
  /** Final blocks from this height on, in order, and then each as it becomes final. */
  | { readonly kind: "follow"; readonly fromHeight: number }
  | { readonly kind: "statusRequest"; readonly nonce: number }
  /** Final blocks once, both ends included; the stream of `follow` is not touched. */
  | { readonly kind: "blocksRequest"; readonly fromHeight: number; readonly toHeight: number };

/** What a replica answers. */
export type ReplicaAnswer =
  /** A block without a certificate of its own is proved by the next one that has one. */
  | {
      readonly kind: "finalBlock";
      readonly block: Block;
      readonly certificate: FinalCert | undefined;
    }
  /** The replica's own signed result. */
  | { readonly kind: "execVote"; readonly vote: ExecVote }
  | { readonly kind: "refused"; readonly transactionId: Hash; readonly code: string }
  | ReplicaReport;

export const REPLICA_MODES = ["probing", "observer", "active", "diverged", "stopped"] as const;
export type ReplicaMode = (typeof REPLICA_MODES)[number];

/** The status of a replica, for operators and for the choice of the replica to ask. */
export type ReplicaReport = {
  readonly kind: "status";
  /** That of the request. */
  readonly nonce: number;
  readonly replica: ReplicaIndex;
  readonly mode: ReplicaMode;
  readonly epoch: number;
  readonly view: number;
  readonly isAccepted: boolean;
  readonly leader: ReplicaIndex;
  readonly tipHeight: number;
  readonly finalHeight: number;
  readonly finalHash: Hash;
  readonly execHeight: number;
  readonly pendingCount: number;
  /** The disk takes no more: the replica accepts no transactions. */
  readonly isDiskFull: boolean;
  /** The replicas that this one is connected to. */
  readonly peersUp: readonly ReplicaIndex[];
};

export type ClientMessage = ClientRequest | ReplicaAnswer;

type Codec<Kind extends ClientMessage> = {
  readonly type: number;
  readonly write: (writer: Writer, message: Kind) => void;
  readonly read: (reader: Reader) => Kind;
};

const FINAL_BLOCK_TYPE = 17;

/** The type bytes are part of the format: one that was used is never used for another kind. */
const CODECS: {
  readonly [Kind in ClientMessage["kind"]]: Codec<Extract<ClientMessage, { readonly kind: Kind }>>;
} = {
  submit: { type: 1, write: writeSubmit, read: readSubmit },
  follow: {
    type: 2,
    write: (writer, { fromHeight }) => writer.uint64(fromHeight),
    read: (reader) => ({ kind: "follow", fromHeight: reader.uint64() }),
  },
  statusRequest: {
    type: 3,
    write: (writer, { nonce }) => writer.uint64(nonce),
    read: (reader) => ({ kind: "statusRequest", nonce: reader.uint64() }),
  },
  blocksRequest: {
    type: 4,
    write(writer, { fromHeight, toHeight }) {
      writer.uint64(fromHeight);
      writer.uint64(toHeight);
    },
    read: (reader) => ({
      kind: "blocksRequest",
      fromHeight: reader.uint64(),
      toHeight: reader.uint64(),
    }),
  },
  finalBlock: { type: FINAL_BLOCK_TYPE, write: writeFinalBlock, read: readFinalBlock },
  execVote: {
    type: 18,
    write: (writer, { vote }) => writeExecVote(writer, vote),
    read: (reader) => ({ kind: "execVote", vote: readExecVote(reader) }),
  },
  refused: {
    type: 19,
    write(writer, { transactionId, code }) {
      writer.hash(transactionId);
      writeCode(writer, code);
    },
    read: (reader) => ({ kind: "refused", transactionId: reader.hash(), code: readCode(reader) }),
  },
  status: { type: 20, write: writeReport, read: readReport },
};

const CODECS_BY_TYPE: ReadonlyMap<number, { readonly read: (reader: Reader) => ClientMessage }> =
  new Map(Object.values(CODECS).map((codec) => [codec.type, codec]));

const sharedWriter = new Writer();

export function encodeClientMessage(message: ClientMessage): Uint8Array {
  const codec = CODECS[message.kind] as Codec<ClientMessage>;
  sharedWriter.reset();
  sharedWriter.uint8(CLIENT_VERSION);
  sharedWriter.uint8(codec.type);
  codec.write(sharedWriter, message);
  const bytes = sharedWriter.take();
  invariant(bytes.length <= MESSAGE_SIZE_MAX, "a message is within the limit of its receivers");
  return bytes;
}

export function decodeClientMessage(bytes: Uint8Array): Result<ClientMessage, WireError> {
  if (bytes.length > MESSAGE_SIZE_MAX) return err({ code: "WIRE_LIMIT_EXCEEDED", offset: 0 });
  const reader = new Reader(bytes);
  if (reader.uint8() !== CLIENT_VERSION) return reader.refuse("WIRE_UNKNOWN_VERSION");
  const codec = CODECS_BY_TYPE.get(reader.uint8());
  if (codec === undefined) return reader.refuse("WIRE_UNKNOWN_TYPE");
  return reader.finish(codec.read(reader));
}

const FINAL_BLOCK_HEAD = Uint8Array.of(CLIENT_VERSION, FINAL_BLOCK_TYPE);
const WITHOUT_CERTIFICATE = Uint8Array.of(0);
const WITH_CERTIFICATE = Uint8Array.of(1);

/**
 * A `finalBlock` of stored bytes (src/wire/block-bytes.ts), in parts that make up its encoding:
 * nothing is decoded to be sent.
 */
export function finalBlockParts(
  block: Uint8Array,
  certificate: Uint8Array | undefined,
): readonly Uint8Array[] {
  if (certificate === undefined) return [FINAL_BLOCK_HEAD, block, WITHOUT_CERTIFICATE];
  return [FINAL_BLOCK_HEAD, block, WITH_CERTIFICATE, certificate];
}

function writeSubmit(
  writer: Writer,
  { transactions }: Extract<ClientRequest, { readonly kind: "submit" }>,
): void {
  let size = 0;
  writer.list(transactions, SUBMIT_TRANSACTIONS_MAX, (bytes) => {
    size += bytes.length;
    writer.uint32(bytes.length);
    writer.bytes(bytes);
  });
  invariant(size <= SUBMIT_SIZE_MAX, "what is submitted at once is within its limit");
}

function readSubmit(reader: Reader): Extract<ClientRequest, { readonly kind: "submit" }> {
  let size = 0;
  const transactions = reader.list(SUBMIT_TRANSACTIONS_MAX, 4, () => {
    const bytes = reader.bytes(reader.uint32());
    size += bytes.length;
    return bytes;
  });
  if (size > SUBMIT_SIZE_MAX) reader.fail("WIRE_LIMIT_EXCEEDED");
  return { kind: "submit", transactions };
}

function writeFinalBlock(
  writer: Writer,
  { block, certificate }: Extract<ReplicaAnswer, { readonly kind: "finalBlock" }>,
): void {
  writeBlock(writer, block);
  writer.flag(certificate !== undefined);
  if (certificate !== undefined) writeCertificate(writer, certificate);
}

function readFinalBlock(reader: Reader): Extract<ReplicaAnswer, { readonly kind: "finalBlock" }> {
  return {
    kind: "finalBlock",
    block: readBlock(reader),
    certificate: reader.flag() ? readFinalCert(reader) : undefined,
  };
}

const CODE_SIZE_MAX = 64;
const CODE_PATTERN = /^[A-Z0-9_]{1,64}$/;

/** Codes are words of capital letters, digits and underscores, as docs/errors.md lists them. */
function writeCode(writer: Writer, code: string): void {
  invariant(CODE_PATTERN.test(code), "a code is a word of capital letters");
  writer.uint8(code.length);
  for (let at = 0; at < code.length; at++) writer.uint8(code.charCodeAt(at));
}

function readCode(reader: Reader): string {
  const size = reader.uint8();
  if (size > CODE_SIZE_MAX) reader.fail("WIRE_LIMIT_EXCEEDED");
  const code = String.fromCharCode(...reader.bytes(size));
  if (!CODE_PATTERN.test(code)) reader.fail("WIRE_VALUE_UNKNOWN");
  return code;
}

function writeReport(writer: Writer, report: ReplicaReport): void {
  writer.uint64(report.nonce);
  writer.replica(report.replica);
  writer.uint8(REPLICA_MODES.indexOf(report.mode));
  writer.uint32(report.epoch);
  writer.uint64(report.view);
  writer.flag(report.isAccepted);
  writer.replica(report.leader);
  writer.uint64(report.tipHeight);
  writer.uint64(report.finalHeight);
  writer.hash(report.finalHash);
  writer.uint64(report.execHeight);
  writer.uint32(report.pendingCount);
  writer.flag(report.isDiskFull);
  writer.list(report.peersUp, REPLICAS_MAX, (peer) => writer.replica(peer));
}

function readReport(reader: Reader): ReplicaReport {
  return {
    kind: "status",
    nonce: reader.uint64(),
    replica: reader.replica(),
    mode: readMode(reader),
    epoch: reader.uint32(),
    view: reader.uint64(),
    isAccepted: reader.flag(),
    leader: reader.replica(),
    tipHeight: reader.uint64(),
    finalHeight: reader.uint64(),
    finalHash: reader.hash(),
    execHeight: reader.uint64(),
    pendingCount: reader.uint32(),
    isDiskFull: reader.flag(),
    peersUp: reader.list(REPLICAS_MAX, 1, () => reader.replica()),
  };
}

function readMode(reader: Reader): ReplicaMode {
  const mode = REPLICA_MODES[reader.uint8()];
  if (mode !== undefined) return mode;
  reader.fail("WIRE_VALUE_UNKNOWN");
  return REPLICA_MODES[0];
}

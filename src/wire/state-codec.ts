/**
 * State transfer between replicas <-> bytes (docs/adr/0011-state-transfer.md), in the same
 * canonical form as their other messages: a version byte, a type byte, then the fields. The decoder
 * never throws on bytes from outside.
 *
 * No message is trusted by itself: headers prove each other up to one whose result f+1 replicas
 * signed, and entries must have the root that this header names.
 */
import { readBigEndian, writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { err, type Result } from "../base/result.ts";
import type { ExecVote } from "../consensus/message.ts";
import { Reader, type WireError } from "./reader.ts";
import { readExecVote, writeExecVote } from "./signed-codec.ts";
import { Writer } from "./writer.ts";

/** The first byte of a frame, as in client-codec.ts. */
export const STATE_CHANNEL = 0x03;
export const STATE_VERSION = 1;

export const STATE_MESSAGE_SIZE_MAX = 4 * 1024 * 1024;
/** What BLOCKHASH can ask for. */
export const SNAPSHOT_HEADERS_MAX = 256;
const HEADER_SIZE_MAX = 1_024;
const ENTRIES_MAX = 65_536;
const CODE_SIZE_MAX = 1024 * 1024;

/** Where a chunk begins. An account comes before its slots. */
export type StateCursor = { readonly address: bigint; readonly slot: bigint | undefined };

export type StateEntry =
  | {
      readonly kind: "account";
      readonly address: bigint;
      readonly account: {
        readonly nonce: bigint;
        readonly balance: bigint;
        readonly codeHash: bigint;
        readonly storageRoot: bigint;
      };
    }
  | {
      readonly kind: "slot";
      readonly address: bigint;
      readonly slot: bigint;
      readonly value: bigint;
    }
  | { readonly kind: "code"; readonly hash: bigint; readonly bytes: Uint8Array };

export const SNAPSHOT_REFUSALS = [
  /** It serves another replica, or was asked too often. */
  "SNAPSHOT_BUSY",
  /** Its own state is not far enough. */
  "SNAPSHOT_TOO_LOW",
  /** The snapshot was closed: it was not read for a while, or it was open for too long. */
  "SNAPSHOT_GONE",
  /** It does not take part in consensus, or is in state sync itself. */
  "SNAPSHOT_UNAVAILABLE",
] as const;
export type SnapshotRefusal = (typeof SNAPSHOT_REFUSALS)[number];

export type StateRequest =
  /** Requests a snapshot of the state at this height or above. */
  | { readonly kind: "snapshotRequest"; readonly minHeight: number }
  | { readonly kind: "chunkRequest"; readonly snapshot: number; readonly cursor: StateCursor }
  /** Requests the signed result of a height, if it is executed. */
  | { readonly kind: "resultRequest"; readonly height: number }
  | { readonly kind: "snapshotRelease"; readonly snapshot: number };

export type StateAnswer =
  | {
      readonly kind: "snapshotOffer";
      readonly snapshot: number;
      /** Of the consensus chain. */
      readonly height: number;
      /** The last blocks of the Ethereum chain as RLP, lowest first: the last one has the root. */
      readonly headers: readonly Uint8Array[];
    }
  | {
      readonly kind: "snapshotChunk";
      readonly snapshot: number;
      readonly entries: readonly StateEntry[];
      /** Undefined with the last entries. */
      readonly next: StateCursor | undefined;
    }
  | { readonly kind: "signedResult"; readonly vote: ExecVote }
  | { readonly kind: "snapshotRefused"; readonly code: SnapshotRefusal };

export type StateMessage = StateRequest | StateAnswer;

type Codec<Kind extends StateMessage> = {
  readonly type: number;
  readonly write: (writer: Writer, message: Kind) => void;
  readonly read: (reader: Reader) => Kind;
};

/** For those who hand a chunk on without decoding it. */
export const SNAPSHOT_CHUNK_TYPE = 18;

/** The type bytes are part of the format: one that was used is never used for another kind. */
const CODECS: {
  readonly [Kind in StateMessage["kind"]]: Codec<Extract<StateMessage, { readonly kind: Kind }>>;
} = {
  snapshotRequest: {
    type: 1,
    write: (writer, { minHeight }) => writer.uint64(minHeight),
    read: (reader) => ({ kind: "snapshotRequest", minHeight: reader.uint64() }),
  },
  chunkRequest: {
    type: 2,
    write(writer, { snapshot, cursor }) {
      writer.uint32(snapshot);
      writeCursor(writer, cursor);
    },
    read: (reader) => ({
      kind: "chunkRequest",
      snapshot: reader.uint32(),
      cursor: readCursor(reader),
    }),
  },
  resultRequest: {
    type: 3,
    write: (writer, { height }) => writer.uint64(height),
    read: (reader) => ({ kind: "resultRequest", height: reader.uint64() }),
  },
  snapshotRelease: {
    type: 4,
    write: (writer, { snapshot }) => writer.uint32(snapshot),
    read: (reader) => ({ kind: "snapshotRelease", snapshot: reader.uint32() }),
  },
  snapshotOffer: {
    type: 17,
    write(writer, { snapshot, height, headers }) {
      writer.uint32(snapshot);
      writer.uint64(height);
      writer.list(headers, SNAPSHOT_HEADERS_MAX, (bytes) =>
        writeSized(writer, bytes, HEADER_SIZE_MAX),
      );
    },
    read: (reader) => ({
      kind: "snapshotOffer",
      snapshot: reader.uint32(),
      height: reader.uint64(),
      headers: reader.list(SNAPSHOT_HEADERS_MAX, 4, () => readSized(reader, HEADER_SIZE_MAX)),
    }),
  },
  snapshotChunk: {
    type: SNAPSHOT_CHUNK_TYPE,
    write(writer, { snapshot, entries, next }) {
      writer.uint32(snapshot);
      writer.list(entries, ENTRIES_MAX, (entry) => writeEntry(writer, entry));
      writer.flag(next !== undefined);
      if (next !== undefined) writeCursor(writer, next);
    },
    read: (reader) => ({
      kind: "snapshotChunk",
      snapshot: reader.uint32(),
      entries: reader.list(ENTRIES_MAX, ENTRY_SIZE_MIN, () => readEntry(reader)),
      next: reader.flag() ? readCursor(reader) : undefined,
    }),
  },
  signedResult: {
    type: 19,
    write: (writer, { vote }) => writeExecVote(writer, vote),
    read: (reader) => ({ kind: "signedResult", vote: readExecVote(reader) }),
  },
  snapshotRefused: {
    type: 20,
    write: (writer, { code }) => writer.uint8(SNAPSHOT_REFUSALS.indexOf(code)),
    read: (reader) => ({ kind: "snapshotRefused", code: readRefusal(reader) }),
  },
};

const CODECS_BY_TYPE: ReadonlyMap<number, { readonly read: (reader: Reader) => StateMessage }> =
  new Map(Object.values(CODECS).map((codec) => [codec.type, codec]));

const sharedWriter = new Writer();

export function encodeStateMessage(message: StateMessage): Uint8Array {
  const codec = CODECS[message.kind] as Codec<StateMessage>;
  sharedWriter.reset();
  sharedWriter.uint8(STATE_VERSION);
  sharedWriter.uint8(codec.type);
  codec.write(sharedWriter, message);
  const bytes = sharedWriter.take();
  invariant(bytes.length <= STATE_MESSAGE_SIZE_MAX, "a message is within its receivers' limit");
  return bytes;
}

export function decodeStateMessage(bytes: Uint8Array): Result<StateMessage, WireError> {
  if (bytes.length > STATE_MESSAGE_SIZE_MAX) return err({ code: "WIRE_LIMIT_EXCEEDED", offset: 0 });
  const reader = new Reader(bytes);
  if (reader.uint8() !== STATE_VERSION) return reader.refuse("WIRE_UNKNOWN_VERSION");
  const codec = CODECS_BY_TYPE.get(reader.uint8());
  if (codec === undefined) return reader.refuse("WIRE_UNKNOWN_TYPE");
  return reader.finish(codec.read(reader));
}

/** The type of an encoded message, which may be anything: it comes from outside. */
export function stateMessageType(bytes: Uint8Array): number | undefined {
  return bytes[1];
}

const ADDRESS_SIZE = 20;
const WORD_SIZE = 32;
const NONCE_SIZE = 8;
const ACCOUNT_KIND = 1;
const SLOT_KIND = 2;
const CODE_KIND = 3;
/** Of code without bytes. */
const ENTRY_SIZE_MIN = 1 + WORD_SIZE + 4;

function writeEntry(writer: Writer, entry: StateEntry): void {
  switch (entry.kind) {
    case "account": {
      const { nonce, balance, codeHash, storageRoot } = entry.account;
      writer.uint8(ACCOUNT_KIND);
      writeInteger(writer, entry.address, ADDRESS_SIZE);
      writeInteger(writer, nonce, NONCE_SIZE);
      for (const word of [balance, codeHash, storageRoot]) writeInteger(writer, word, WORD_SIZE);
      return;
    }
    case "slot":
      writer.uint8(SLOT_KIND);
      writeInteger(writer, entry.address, ADDRESS_SIZE);
      writeInteger(writer, entry.slot, WORD_SIZE);
      writeInteger(writer, entry.value, WORD_SIZE);
      return;
    case "code":
      writer.uint8(CODE_KIND);
      writeInteger(writer, entry.hash, WORD_SIZE);
      writeSized(writer, entry.bytes, CODE_SIZE_MAX);
  }
}

function readEntry(reader: Reader): StateEntry {
  const kind = reader.uint8();
  if (kind === CODE_KIND) {
    const hash = readInteger(reader, WORD_SIZE);
    return { kind: "code", hash, bytes: readSized(reader, CODE_SIZE_MAX) };
  }
  const address = readInteger(reader, ADDRESS_SIZE);
  if (kind === ACCOUNT_KIND) {
    const nonce = readInteger(reader, NONCE_SIZE);
    const balance = readInteger(reader, WORD_SIZE);
    const codeHash = readInteger(reader, WORD_SIZE);
    const storageRoot = readInteger(reader, WORD_SIZE);
    return { kind: "account", address, account: { nonce, balance, codeHash, storageRoot } };
  }
  if (kind !== SLOT_KIND) reader.fail("WIRE_VALUE_UNKNOWN");
  const slot = readInteger(reader, WORD_SIZE);
  return { kind: "slot", address, slot, value: readInteger(reader, WORD_SIZE) };
}

function writeCursor(writer: Writer, { address, slot }: StateCursor): void {
  writeInteger(writer, address, ADDRESS_SIZE);
  writer.flag(slot !== undefined);
  if (slot !== undefined) writeInteger(writer, slot, WORD_SIZE);
}

function readCursor(reader: Reader): StateCursor {
  const address = readInteger(reader, ADDRESS_SIZE);
  return { address, slot: reader.flag() ? readInteger(reader, WORD_SIZE) : undefined };
}

function writeInteger(writer: Writer, value: bigint, size: number): void {
  const bytes = new Uint8Array(size);
  writeBigEndian(value, bytes, 0, size);
  writer.bytes(bytes);
}

function readInteger(reader: Reader, size: number): bigint {
  const bytes = reader.bytes(size);
  return bytes.length === size ? readBigEndian(bytes, 0, size) : 0n;
}

function writeSized(writer: Writer, bytes: Uint8Array, sizeMax: number): void {
  invariant(bytes.length <= sizeMax, "what is sent is within its limit");
  writer.uint32(bytes.length);
  writer.bytes(bytes);
}

function readSized(reader: Reader, sizeMax: number): Uint8Array {
  const size = reader.uint32();
  if (size > sizeMax) reader.fail("WIRE_LIMIT_EXCEEDED");
  return size > sizeMax ? new Uint8Array(0) : reader.bytes(size);
}

function readRefusal(reader: Reader): SnapshotRefusal {
  const code = SNAPSHOT_REFUSALS[reader.uint8()];
  if (code !== undefined) return code;
  reader.fail("WIRE_VALUE_UNKNOWN");
  return SNAPSHOT_REFUSALS[0];
}

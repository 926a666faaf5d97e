/**
 * One record of the write-ahead log (PROTOCOL §7), little-endian, a multiple of eight bytes long:
 *
 *   length u32 | type u8, 3 zero | segment id u32 | salt u32 | lsn u64 | durable lsn u64
 *   | body | zeros | CRC-32 of everything before it
 *
 * Id and salt of the segment are covered by the CRC, so that the old bytes of a recycled file never
 * parse. The salt is drawn at random for each segment: a sender that chooses a body (a transaction)
 * cannot hide a record in it that a recovery would accept.
 */
import { crc32 } from "node:zlib";
import { invariant } from "../base/invariant.ts";

/** Which file a record belongs to. */
export type SegmentSeal = { readonly id: number; readonly salt: number };

/** "head" opens a segment and takes no lsn of its own: its lsn is that of the first record. */
export type RecordType = "head" | "data";

export type WalRecord = SegmentSeal & {
  readonly type: RecordType;
  readonly lsn: number;
  /** The last lsn known to be on the disk when this record was appended. */
  readonly durableLsn: number;
  /** A view of the bytes that were read, not a copy. */
  readonly body: Uint8Array;
  readonly size: number;
};

const HEAD_SIZE = 32;
const CRC_SIZE = 4;
const ALIGNMENT = 8;
const SEAL_OFFSET = 8;
const SEAL_SIZE = 8;
const TYPE_CODES: Readonly<Record<RecordType, number>> = { head: 1, data: 2 };
export const WAL_BODY_BYTES_MAX = 0x3fff_ffff;
/** A head record has no body. */
export const HEAD_RECORD_SIZE = recordSize(0);

export function recordSize(bodySize: number): number {
  return Math.ceil((HEAD_SIZE + bodySize + CRC_SIZE) / ALIGNMENT) * ALIGNMENT;
}

/** Writes the record at `offset`, where `out` has room and may hold any bytes; returns its size. */
export function encodeWalRecord(
  record: Omit<WalRecord, "size">,
  out: Buffer,
  offset: number,
): number {
  const { body } = record;
  invariant(body.length <= WAL_BODY_BYTES_MAX, "a record of the log fits in its length field");
  const size = recordSize(body.length);
  const crcOffset = offset + size - CRC_SIZE;
  out.writeUInt32LE(body.length, offset);
  out.writeUInt32LE(TYPE_CODES[record.type], offset + 4);
  out.writeUInt32LE(record.id, offset + SEAL_OFFSET);
  out.writeUInt32LE(record.salt, offset + 12);
  writeSafeInteger(out, record.lsn, offset + 16);
  writeSafeInteger(out, record.durableLsn, offset + 24);
  out.set(body, offset + HEAD_SIZE);
  out.fill(0, offset + HEAD_SIZE + body.length, crcOffset);
  out.writeUInt32LE(crc32(out.subarray(offset, crcOffset)), crcOffset);
  return size;
}

/** The valid record at `offset`, or undefined if the bytes there are not one. */
export function decodeWalRecord(bytes: Buffer, offset: number): WalRecord | undefined {
  if (offset + HEAD_SIZE + CRC_SIZE > bytes.length) return undefined;
  const bodySize = bytes.readUInt32LE(offset);
  if (bodySize > WAL_BODY_BYTES_MAX) return undefined;
  const size = recordSize(bodySize);
  if (offset + size > bytes.length) return undefined;
  const id = bytes.readUInt32LE(offset + SEAL_OFFSET);
  // No segment has the id 0, and most bytes that are no record are zeros: save the checksum.
  if (id === 0) return undefined;
  const crcOffset = offset + size - CRC_SIZE;
  if (crc32(bytes.subarray(offset, crcOffset)) !== bytes.readUInt32LE(crcOffset)) return undefined;
  const type = typeOf(bytes.readUInt32LE(offset + 4));
  if (type === undefined) return undefined;
  return {
    type,
    id,
    salt: bytes.readUInt32LE(offset + 12),
    lsn: readSafeInteger(bytes, offset + 16),
    durableLsn: readSafeInteger(bytes, offset + 24),
    body: bytes.subarray(offset + HEAD_SIZE, offset + HEAD_SIZE + bodySize),
    size,
  };
}

/** Every valid record of the segment at or after `from`, also past damage, lowest offset first. */
export function* findRecords(
  bytes: Buffer,
  seal: SegmentSeal,
  from: number,
): Generator<{ readonly offset: number; readonly record: WalRecord }> {
  const pattern = sealPattern(seal);
  let found = bytes.indexOf(pattern, from + SEAL_OFFSET);
  while (found !== -1) {
    const offset = found - SEAL_OFFSET;
    const record = offset % ALIGNMENT === 0 ? decodeWalRecord(bytes, offset) : undefined;
    if (record !== undefined) yield { offset, record };
    found = bytes.indexOf(pattern, record === undefined ? found + 1 : found + record.size);
  }
}

/** Whether a record of the segment, valid or not, was begun at or after `from`. */
export function hasSealAfter(bytes: Buffer, seal: SegmentSeal, from: number): boolean {
  return bytes.indexOf(sealPattern(seal), from + SEAL_OFFSET) !== -1;
}

export function isOfSegment(record: WalRecord, seal: SegmentSeal): boolean {
  return record.id === seal.id && record.salt === seal.salt;
}

function sealPattern({ id, salt }: SegmentSeal): Buffer {
  const pattern = Buffer.alloc(SEAL_SIZE);
  pattern.writeUInt32LE(id, 0);
  pattern.writeUInt32LE(salt, 4);
  return pattern;
}

function typeOf(code: number): RecordType | undefined {
  if (code === TYPE_CODES.head) return "head";
  return code === TYPE_CODES.data ? "data" : undefined;
}

function writeSafeInteger(out: Buffer, value: number, offset: number): void {
  out.writeUInt32LE(value % 0x1_0000_0000, offset);
  out.writeUInt32LE(Math.floor(value / 0x1_0000_0000), offset + 4);
}

function readSafeInteger(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 0x1_0000_0000;
}

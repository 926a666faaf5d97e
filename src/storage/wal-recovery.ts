/**
 * Reads the log after a restart: which records are valid, where it ends, and whether durable
 * records are missing.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import type { FileSync } from "./file-sync.ts";
import {
  decodeWalRecord,
  findRecords,
  hasSealAfter,
  isOfSegment,
  type WalRecord,
} from "./wal-record.ts";
import type { SegmentFile } from "./wal-segment.ts";

/**
 * "tail-cut": the end of the log held records that never were durable, and they are left out. A
 * tail of which not even the seal was written cannot be distinguished from none.
 */
export type WalVerdict = "clean" | "tail-cut";

export type RecoveredLog = {
  readonly bodies: readonly Uint8Array[];
  readonly verdict: WalVerdict;
  readonly nextLsn: number;
};

type Cut = { readonly path: string; readonly offset: number; readonly lsn: number };

/**
 * The first invalid record has some lsn p. If any valid record says that p was durable, the disk
 * lost data that it had synced: that is damage and not a tail, and the log cannot be trusted
 * (PROTOCOL §7). `repair` is the advice for the operator in that case.
 */
export function recoverLog(
  segments: readonly SegmentFile[],
  repair: string,
  sync: FileSync,
): RecoveredLog {
  const bodies: Uint8Array[] = [];
  let verdict: WalVerdict = "clean";
  let end: Cut | undefined;
  for (const segment of segments) {
    const bytes = readFileSync(segment.path);
    const head = decodeWalRecord(bytes, 0);
    if (head?.type !== "head" || head.id !== segment.id) {
      throw corrupt({ path: segment.path, offset: 0, lsn: end?.lsn ?? 1 }, repair);
    }
    // A segment is begun only when all before it is durable, so a gap is a loss.
    if (end !== undefined && head.lsn !== end.lsn) throw corrupt(end, repair);
    const read = readSegment(bytes, head, bodies);
    end = { path: segment.path, offset: read.offset, lsn: read.lsn };
    if (read.durableLsn >= end.lsn) throw corrupt(end, repair);
    verdict = read.hasTail ? "tail-cut" : "clean";
  }
  const last = segments.at(-1);
  // What was read may be in the page cache only. The next segment will say that it is durable.
  if (last !== undefined) syncFile(last.path, sync);
  return { bodies, verdict, nextLsn: end?.lsn ?? 1 };
}

type SegmentEnd = {
  /** Of the first byte that is no valid record, and the lsn that is missing there. */
  readonly offset: number;
  readonly lsn: number;
  /** The highest lsn that any valid record, also past the end, knew to be durable. */
  readonly durableLsn: number;
  readonly hasTail: boolean;
};

function readSegment(bytes: Buffer, head: WalRecord, bodies: Uint8Array[]): SegmentEnd {
  let offset = head.size;
  let { lsn, durableLsn } = head;
  for (;;) {
    const record = decodeWalRecord(bytes, offset);
    if (record?.type !== "data" || !isOfSegment(record, head) || record.lsn !== lsn) break;
    // A copy, so that the file's bytes need not stay in memory.
    bodies.push(new Uint8Array(record.body));
    durableLsn = Math.max(durableLsn, record.durableLsn);
    offset += record.size;
    lsn++;
  }
  for (const { record } of findRecords(bytes, head, offset)) {
    durableLsn = Math.max(durableLsn, record.durableLsn);
  }
  return { offset, lsn, durableLsn, hasTail: hasSealAfter(bytes, head, offset) };
}

function corrupt(at: Cut, repair: string): CodedError {
  return new CodedError("WAL_CORRUPT", { ...at, repair });
}

function syncFile(path: string, sync: FileSync): void {
  const fd = openSync(path, "r+");
  try {
    sync.dataAndWait(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The files of the log. A segment gets its name only when it is filled to its full size and its
 * first records are on the disk, so that a named segment always has them (PROTOCOL §7).
 */
import { randomInt } from "node:crypto";
import { closeSync, constants, openSync, readdirSync } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { FileSync } from "./file-sync.ts";
import { encodeWalRecord, HEAD_RECORD_SIZE, recordSize, type SegmentSeal } from "./wal-record.ts";

export type SegmentFile = { readonly id: number; readonly path: string };

/** A segment that is open for appending. */
export type OpenSegment = SegmentSeal & {
  readonly path: string;
  readonly fd: number;
  /** Where the next record goes. */
  readonly offset: number;
};

const NAME = /^wal-(\d{10})\.log$/;
/** An old segment that waits to become a new one. */
const SPARE_NAME = "wal-spare.log";
/** A segment that is being prepared. Recovery deletes what a crash leaves of it. */
const DRAFT_NAME = "wal-draft.log";
const SPARE_DRAFT_NAME = "wal-spare-draft.log";
const FILL_CHUNK = Buffer.alloc(1024 * 1024);
const SALT_LIMIT = 2 ** 32;

/** The named segments, oldest first. */
export function listSegments(directory: string): SegmentFile[] {
  const segments: SegmentFile[] = [];
  for (const name of readdirSync(directory)) {
    const match = NAME.exec(name);
    if (match === null) continue;
    segments.push({ id: Number(match[1]), path: path.join(directory, name) });
  }
  return segments.sort((a, b) => a.id - b.id);
}

export type SegmentPlan = {
  readonly id: number;
  readonly size: number;
  /** Of the first record, given now or yet to come. */
  readonly firstLsn: number;
};

/** A segment that is complete and durable but for its name. */
export type Draft = SegmentSeal & { readonly offset: number };

/** A failure leaves nothing behind. */
export async function draftSegment(
  directory: string,
  { id, size, firstLsn }: SegmentPlan,
  firstBody: Uint8Array | undefined,
): Promise<Draft> {
  const seal = { id, salt: randomInt(SALT_LIMIT) };
  const durableLsn = firstBody === undefined ? firstLsn - 1 : firstLsn;
  const bodySize = firstBody === undefined ? 0 : recordSize(firstBody.length);
  const opening = Buffer.alloc(HEAD_RECORD_SIZE + bodySize);
  const noBody = new Uint8Array(0);
  encodeWalRecord({ ...seal, type: "head", lsn: firstLsn, durableLsn, body: noBody }, opening, 0);
  if (firstBody !== undefined) {
    const first = { ...seal, type: "data", lsn: firstLsn, durableLsn: firstLsn - 1 } as const;
    encodeWalRecord({ ...first, body: firstBody }, opening, HEAD_RECORD_SIZE);
  }
  const draftPath = path.join(directory, DRAFT_NAME);
  await takeSpare(directory, draftPath);
  await writeDraft(draftPath, size, opening);
  return { ...seal, offset: opening.length };
}

/** From here on a recovery finds it. */
export async function nameSegment(
  directory: string,
  draft: Draft,
  sync: FileSync,
): Promise<OpenSegment> {
  const namedPath = path.join(directory, segmentName(draft.id));
  await rename(path.join(directory, DRAFT_NAME), namedPath);
  await sync.directory(directory);
  return { ...draft, path: namedPath, fd: openSync(namedPath, "r+") };
}

/** Fills a file in advance, so that the next segment begins without waiting for it. */
export async function fillSpare(directory: string, size: number): Promise<void> {
  const sparePath = path.join(directory, SPARE_NAME);
  if ((await sizeOf(sparePath)) !== undefined) return;
  const draftPath = path.join(directory, SPARE_DRAFT_NAME);
  await writeDraft(draftPath, size, Buffer.alloc(0));
  await rename(draftPath, sparePath);
}

/**
 * Drops segments that are no longer needed, oldest first; one of the right size is kept to reuse.
 */
export async function discardSegments(
  directory: string,
  segments: readonly SegmentFile[],
  { size, sync }: { readonly size: number; readonly sync: FileSync },
): Promise<void> {
  const sparePath = path.join(directory, SPARE_NAME);
  let hasSpare = (await sizeOf(sparePath)) !== undefined;
  for (const segment of segments) {
    if (!hasSpare && (await sizeOf(segment.path)) === size) {
      await rename(segment.path, sparePath);
      hasSpare = true;
    } else {
      await rm(segment.path, { force: true });
    }
  }
  if (segments.length > 0) await sync.directory(directory);
}

export async function removeDrafts(directory: string): Promise<void> {
  await rm(path.join(directory, DRAFT_NAME), { force: true });
  await rm(path.join(directory, SPARE_DRAFT_NAME), { force: true });
}

export function closeSegment(segment: OpenSegment): void {
  closeSync(segment.fd);
}

function segmentName(id: number): string {
  return `wal-${String(id).padStart(10, "0")}.log`;
}

async function takeSpare(directory: string, draftPath: string): Promise<void> {
  const sparePath = path.join(directory, SPARE_NAME);
  if ((await sizeOf(sparePath)) === undefined) await rm(draftPath, { force: true });
  else await rename(sparePath, draftPath);
}

async function writeDraft(draftPath: string, size: number, opening: Buffer): Promise<void> {
  const file = await open(draftPath, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    // Zeros are written, not left as a hole: later writes then change no metadata of the file.
    let filled = (await file.stat()).size;
    while (filled < size) filled += await writeSome(file, FILL_CHUNK, 0, filled, size - filled);
    let written = 0;
    while (written < opening.length) written += await writeSome(file, opening, written, written);
    await file.sync();
  } catch (error) {
    // A disk that is full needs the space back.
    await rm(draftPath, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The system may take less than it is given. */
async function writeSome(
  file: FileHandle,
  bytes: Buffer,
  from: number,
  position: number,
  sizeMax = bytes.length,
): Promise<number> {
  const size = Math.min(bytes.length - from, sizeMax);
  return (await file.write(bytes, from, size, position)).bytesWritten;
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch {
    return undefined;
  }
}

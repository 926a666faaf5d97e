/**
 * The write-ahead log (PROTOCOL §7): records in order, made durable by one write and one fdatasync
 * for all that was appended before. It does not know what its records mean.
 *
 * The write goes to the page cache of a file that has its full size, which is a copy in memory and
 * costs less than a trip through the thread pool; the fdatasync waits in the pool (docs/adr/0007).
 */
import { mkdirSync, writeSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import { invariant } from "../base/invariant.ts";
import { isDiskFullError, writeError } from "./disk-error.ts";
import { DEFAULT_FREE_BYTES_MIN, freeBytes } from "./disk-space.ts";
import { FILE_SYNC, type FileSync } from "./file-sync.ts";
import { encodeWalRecord, recordSize } from "./wal-record.ts";
import { recoverLog, type WalVerdict } from "./wal-recovery.ts";
import {
  closeSegment,
  discardSegments,
  draftSegment,
  fillSpare,
  listSegments,
  nameSegment,
  type Draft,
  type OpenSegment,
  removeDrafts,
  type SegmentFile,
  type SegmentPlan,
} from "./wal-segment.ts";

export type WalOptions = {
  /** What the operator runs when the log is damaged; part of the error. */
  readonly repair: string;
  /** A segment is filled with zeros up to this size. It grows past it if it must. */
  readonly segmentSize?: number;
  /** What may still be written to the file system of the directory. */
  readonly freeBytes?: (directory: string) => number;
  readonly sync?: FileSync;
};

export type OpenedWal = {
  readonly wal: Wal;
  /** What was appended and survived, oldest first. */
  readonly records: readonly Uint8Array[];
  readonly verdict: WalVerdict;
};

type Waiter = {
  readonly lsn: number;
  readonly resolve: (lsn: number) => void;
  readonly reject: (error: CodedError) => void;
};

const DEFAULT_SEGMENT_SIZE = 64 * 1024 * 1024;
/**
 * Where a full segment would leave less than this free, a new one begins small and grows as it
 * must. A node that is started again and again on a full disk begins a segment each time: they must
 * not use up the space that is reserved for the log (disk-space.ts).
 */
const RESERVE_BYTES = DEFAULT_FREE_BYTES_MIN;
const SMALL_SEGMENT_SIZE = 1024 * 1024;
const BATCH_SIZE_MIN = 64 * 1024;
/** Batch buffers above this size are given back after use. */
const BATCH_SIZE_KEPT = 4 * 1024 * 1024;

export class Wal {
  readonly #directory: string;
  readonly #segmentSize: number;
  readonly #freeBytes: (directory: string) => number;
  readonly #sync: FileSync;
  /** Undefined after a restart until `startSegment`: the end of an old segment is never reused. */
  #segment: OpenSegment | undefined;
  #older: SegmentFile[];
  #offset = 0;
  /** Appended and not yet written: `#batch[0 .. #batchSize)`. The other buffer is with the disk. */
  #batch = Buffer.alloc(BATCH_SIZE_MIN);
  #idleBatch = Buffer.alloc(BATCH_SIZE_MIN);
  #batchSize = 0;
  /** Written, and not yet known to be durable. */
  #writingSize = 0;
  #lastLsn: number;
  #durableLsn: number;
  #waiters: Waiter[] = [];
  #flush: "idle" | "scheduled" | "running" = "idle";
  #failure: CodedError | undefined;
  /** From `startSegment` until its segment is there. */
  #isRotating = false;
  #filling: Promise<void> | undefined;
  #dropping: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(directory: string, options: WalOptions, older: SegmentFile[], lsn: number) {
    this.#directory = directory;
    this.#segmentSize = options.segmentSize ?? DEFAULT_SEGMENT_SIZE;
    this.#freeBytes = options.freeBytes ?? freeBytes;
    this.#sync = options.sync ?? FILE_SYNC;
    this.#older = older;
    this.#lastLsn = lsn;
    this.#durableLsn = lsn;
  }

  /**
   * Throws WAL_CORRUPT if something is missing that had been durable. After a restart with records,
   * the log takes new ones only once `startSegment` has begun a segment of its own for them.
   */
  static async open(directory: string, options: WalOptions): Promise<OpenedWal> {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await removeDrafts(directory);
    const segments = listSegments(directory);
    const { bodies, verdict, nextLsn } = recoverLog(
      segments,
      options.repair,
      options.sync ?? FILE_SYNC,
    );
    const wal = new Wal(directory, options, segments, nextLsn - 1);
    if (bodies.length === 0) {
      await wal.#beginSegment(undefined);
      await wal.dropBefore(wal.segmentId);
    }
    return { wal, records: bodies, verdict };
  }

  /** Of the last record appended; 0 before the first. */
  get lastLsn(): number {
    return this.#lastLsn;
  }

  get durableLsn(): number {
    return this.#durableLsn;
  }

  /** Of the segment that takes the records now. */
  get segmentId(): number {
    return this.#current().id;
  }

  /** How full the current segment is; at 1 it begins to grow, which makes each sync slower. */
  get fill(): number {
    return (this.#offset + this.#batchSize) / this.#segmentSize;
  }

  /** Appended and not yet durable: what a disk that stalls makes grow. */
  get unsyncedBytes(): number {
    return this.#batchSize + this.#writingSize;
  }

  /** Returns the lsn of the record, which is durable after a later `sync`. Throws what failed. */
  append(body: Uint8Array): number {
    this.#assertUsable();
    const { id, salt } = this.#current();
    const size = recordSize(body.length);
    this.#reserve(size);
    const lsn = this.#lastLsn + 1;
    const record = { type: "data", id, salt, lsn, durableLsn: this.#durableLsn, body } as const;
    encodeWalRecord(record, this.#batch, this.#batchSize);
    this.#batchSize += size;
    this.#lastLsn = lsn;
    return lsn;
  }

  /**
   * Resolves with an lsn at or above that of the last record appended before the call, when all up
   * to it is durable. Callers at the same time share one write and one fdatasync.
   */
  sync(): Promise<number> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#lastLsn === this.#durableLsn) return Promise.resolve(this.#durableLsn);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lsn: this.#lastLsn, resolve, reject });
      if (this.#flush !== "idle") return;
      this.#flush = "scheduled";
      // After the code that is running now, which may have more to append.
      queueMicrotask(() => this.#writeBatch());
    });
  }

  /**
   * Begins a new segment with this record, durable when it resolves, and returns its lsn.
   * Everything appended before is made durable first. The caller appends nothing until it is
   * resolved. When it fails with DISK_FULL because no file could be created, the log continues in
   * the old segment.
   */
  async startSegment(firstRecord: Uint8Array): Promise<number> {
    this.#assertUsable();
    this.#isRotating = true;
    try {
      await this.sync();
      await this.#beginSegment(firstRecord);
    } finally {
      this.#isRotating = false;
    }
    return this.#lastLsn;
  }

  /**
   * Fills a file for the next segment, unless a dropped one is there, so that it begins at once.
   */
  async prepareSpare(): Promise<void> {
    if (this.#isRoomLow()) throw new CodedError("DISK_FULL", { path: this.#directory });
    this.#filling ??= fillSpare(this.#directory, this.#segmentSize);
    try {
      await this.#filling;
    } catch (error) {
      throw writeError("WAL_WRITE_FAILED", { path: this.#directory }, error);
    } finally {
      this.#filling = undefined;
    }
  }

  /** Drops the segments older than this one. What they hold must not be needed any more. */
  dropBefore(segmentId: number): Promise<void> {
    invariant(segmentId <= this.segmentId, "the current segment is never dropped");
    // One after the other: two at a time would look for the same files.
    const dropped = this.#dropping.then(() => this.#drop(segmentId));
    this.#dropping = dropped.catch(() => undefined);
    return dropped;
  }

  /** What could not be removed is still known, and the next call tries it again. */
  async #drop(segmentId: number): Promise<void> {
    const dropped = this.#older.filter(({ id }) => id < segmentId);
    try {
      const [size, sync] = [this.#segmentSize, this.#sync];
      await discardSegments(this.#directory, dropped, { size, sync });
    } catch (error) {
      throw writeError("WAL_WRITE_FAILED", { path: this.#directory }, error);
    }
    this.#older = this.#older.filter(({ id }) => id >= segmentId);
  }

  /** Makes everything durable that was appended, if the log is still usable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#failure === undefined) await this.sync();
    this.#isClosed = true;
    if (this.#segment !== undefined) closeSegment(this.#segment);
  }

  #current(): OpenSegment {
    invariant(this.#segment !== undefined, "a log that was opened again begins a segment first");
    return this.#segment;
  }

  #assertUsable(): void {
    invariant(!this.#isClosed, "a closed log takes no records");
    invariant(!this.#isRotating, "nothing is appended while a segment begins");
    if (this.#failure !== undefined) throw this.#failure;
  }

  #reserve(size: number): void {
    const needed = this.#batchSize + size;
    if (needed <= this.#batch.length) return;
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#batch.length));
    this.#batch.copy(larger, 0, 0, this.#batchSize);
    this.#batch = larger;
  }

  async #beginSegment(firstRecord: Uint8Array | undefined): Promise<void> {
    const lastId = this.#segment?.id ?? this.#older.at(-1)?.id ?? 0;
    const firstLsn = this.#lastLsn + 1;
    const size = this.#isRoomLow()
      ? Math.min(SMALL_SEGMENT_SIZE, this.#segmentSize)
      : this.#segmentSize;
    const plan = { id: lastId + 1, size, firstLsn };
    let segment;
    try {
      const draft = await this.#draft(plan, firstRecord);
      segment = await nameSegment(this.#directory, draft, this.#sync);
    } catch (error) {
      // Only a draft that found no room leaves the log as it was.
      if (error instanceof CodedError) throw error;
      const failure = writeError("WAL_WRITE_FAILED", { path: this.#directory }, error);
      this.#fail(failure);
      throw failure;
    }
    if (this.#segment !== undefined) {
      this.#older.push({ id: this.#segment.id, path: this.#segment.path });
      closeSegment(this.#segment);
    }
    this.#segment = segment;
    this.#offset = segment.offset;
    if (firstRecord !== undefined) this.#lastLsn = firstLsn;
    this.#durableLsn = this.#lastLsn;
  }

  #isRoomLow(): boolean {
    return this.#freeBytes(this.#directory) < this.#segmentSize + RESERVE_BYTES;
  }

  async #draft(plan: SegmentPlan, firstRecord: Uint8Array | undefined): Promise<Draft> {
    try {
      return await draftSegment(this.#directory, plan, firstRecord);
    } catch (error) {
      if (isDiskFullError(error))
        throw new CodedError("DISK_FULL", { path: this.#directory }, error);
      throw error;
    }
  }

  #writeBatch(): void {
    const { fd, path } = this.#current();
    const batch = this.#batch;
    const size = this.#batchSize;
    const lsn = this.#lastLsn;
    const offset = this.#offset;
    this.#batch = this.#idleBatch;
    this.#batchSize = 0;
    this.#writingSize = size;
    this.#flush = "running";
    try {
      for (let written = 0; written < size;) {
        written += writeSync(fd, batch, written, size - written, offset + written);
      }
    } catch (error) {
      this.#fail(writeError("WAL_WRITE_FAILED", { path, offset }, error));
      return;
    }
    this.#offset += size;
    this.#sync.data(fd, (error) => {
      // After a failed sync the content of the disk is unknown, and the system reports the failure
      // only once.
      if (error !== null) this.#fail(writeError("WAL_WRITE_FAILED", { path, offset }, error));
      else this.#onDurable(lsn, batch);
    });
  }

  #onDurable(lsn: number, batch: Buffer<ArrayBuffer>): void {
    this.#idleBatch = batch.length <= BATCH_SIZE_KEPT ? batch : Buffer.alloc(BATCH_SIZE_MIN);
    this.#durableLsn = lsn;
    this.#writingSize = 0;
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.lsn > lsn);
    this.#flush = "idle";
    if (this.#waiters.length > 0) this.#writeBatch();
    for (const waiter of waiters) if (waiter.lsn <= lsn) waiter.resolve(lsn);
  }

  #fail(failure: CodedError): void {
    this.#failure = failure;
    this.#flush = "idle";
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(failure);
  }
}

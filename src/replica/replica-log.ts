/** The consensus log on disk: records of the core in the write-ahead log (PROTOCOL §7). */
import { existsSync, renameSync, rmSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import type { LogRecord } from "../consensus/log-record.ts";
import { Wal } from "../storage/wal.ts";
import type { WalVerdict } from "../storage/wal-recovery.ts";
import { decodeLogRecord, encodeLogRecord } from "../wire/log-record-codec.ts";

export type ReplicaLogOptions = {
  /** What the operator runs to abandon a damaged log. */
  readonly repair: string;
  readonly segmentSize?: number | undefined;
  readonly onSynced?: ((durationMs: number) => void) | undefined;
};

export type OpenedLog = {
  readonly log: ReplicaLog;
  readonly records: readonly LogRecord[];
  readonly verdict: WalVerdict;
};

/** Half full: time to have the next segment's file ready. Full: time to use it. */
const SPARE_FILL = 0.5;
const ROTATE_FILL = 0.95;

export class ReplicaLog {
  readonly #wal: Wal;
  readonly #onSynced: ((durationMs: number) => void) | undefined;
  /** Records were read back: the next one begins a segment of its own. */
  #isBegun: boolean;
  #hasSpare = false;

  private constructor(wal: Wal, isBegun: boolean, onSynced?: (durationMs: number) => void) {
    this.#wal = wal;
    this.#isBegun = isBegun;
    this.#onSynced = onSynced;
  }

  /** Throws WAL_CORRUPT when something is missing or unreadable that had been durable. */
  static async open(directory: string, options: ReplicaLogOptions): Promise<OpenedLog> {
    const { repair, segmentSize, onSynced } = options;
    const opened = await Wal.open(directory, {
      repair,
      ...(segmentSize === undefined ? {} : { segmentSize }),
    });
    const records: LogRecord[] = [];
    for (const body of opened.records) {
      const decoded = decodeLogRecord(body);
      if (!decoded.ok) {
        await opened.wal.close();
        const { code: reason } = decoded.error;
        throw new CodedError("WAL_CORRUPT", { path: directory, reason, repair });
      }
      records.push(decoded.value);
    }
    const log = new ReplicaLog(opened.wal, records.length === 0, onSynced);
    return { log, records, verdict: opened.verdict };
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get wantsRotation(): boolean {
    return this.#wal.fill >= ROTATE_FILL;
  }

  /** Appended and not yet durable. */
  get unsyncedBytes(): number {
    return this.#wal.unsyncedBytes;
  }

  append(record: LogRecord): void {
    this.#wal.append(encodeLogRecord(record));
  }

  /** Resolves when all that was appended before is durable. */
  async sync(): Promise<void> {
    const startedMs = performance.now();
    await this.#wal.sync();
    this.#onSynced?.(performance.now() - startedMs);
  }

  /** Begins a segment with this record. Nothing may be appended until it is resolved. */
  async begin(record: LogRecord): Promise<void> {
    await this.#wal.startSegment(encodeLogRecord(record));
    this.#isBegun = true;
    this.#hasSpare = false;
  }

  /** In the background, when the segment is half full. */
  async prepareSpare(): Promise<void> {
    if (this.#hasSpare || this.#wal.fill < SPARE_FILL) return;
    this.#hasSpare = true;
    await this.#wal.prepareSpare();
  }

  /** Of the segment that takes the records now: what `dropBefore` takes. */
  get segmentId(): number {
    return this.#wal.segmentId;
  }

  /** What older segments hold must be in later records or in the block store, durably. */
  async dropBefore(segmentId: number): Promise<void> {
    await this.#wal.dropBefore(segmentId);
  }

  async close(): Promise<void> {
    await this.#wal.close();
  }
}

/** Puts a log aside for ever. The replica comes back without it, by a new epoch (PROTOCOL §9). */
export function abandonLog(directory: string): void {
  if (!existsSync(directory)) return;
  const kept = `${directory}.abandoned`;
  rmSync(kept, { recursive: true, force: true });
  renameSync(directory, kept);
}

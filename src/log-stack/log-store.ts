/**
 * The writing side of the log store. What is added is gathered for a moment and written in one
 * transaction; the promise of `add` resolves when it is there, so that an input acknowledges only
 * lines that survive a kill.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CodedError } from "../base/coded-error.ts";
import { openForWriting } from "./log-database.ts";
import type { LogDocument } from "./log-pipeline.ts";
import { searchableText } from "./searchable-text.ts";

export type LogStoreOptions = {
  readonly filePath: string;
  /** Of the database file; the oldest arrivals go first. */
  readonly sizeMax: number;
  readonly ageMaxMs: number;
  /** What may wait to be written; more is refused. */
  readonly waitingMax: number;
  readonly gatherMs: number;
};

export type LogStoreDependencies = {
  readonly now?: () => number;
  /** After every transaction, with the id of the newest entry. */
  readonly onWritten?: (lastId: number) => void;
  readonly onRetentionFailed?: (error: unknown) => void;
};

export const DEFAULT_LOG_STORE_OPTIONS: Omit<LogStoreOptions, "filePath"> = {
  sizeMax: 512 * 1024 * 1024,
  ageMaxMs: 7 * 24 * 3_600_000,
  waitingMax: 200_000,
  gatherMs: 20,
};

/** One transaction writes at most so many, so that a reader never waits long. */
const BATCH_MAX = 5_000;
const RETENTION_STEP = 5_000;
const RETENTION_CHECK_MS = 10_000;
/** The oldest goes until this share of the limit is left, so that it is not done for each batch. */
const SIZE_AFTER_RETENTION = 0.95;
const SIZE_MIN = 1024 * 1024;

type Waiting = {
  readonly documents: readonly LogDocument[];
  readonly resolve: () => void;
  readonly reject: (error: CodedError) => void;
};

export class LogStore {
  readonly isReplaced: boolean;
  readonly #options: LogStoreOptions;
  readonly #now: () => number;
  readonly #onWritten: (lastId: number) => void;
  readonly #onRetentionFailed: (error: unknown) => void;
  readonly #database: DatabaseSync;
  readonly #insertEntry: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #retentionTimer: NodeJS.Timeout;
  #waiting: Waiting[] = [];
  #waitingCount = 0;
  #writeTimer: NodeJS.Timeout | undefined;
  #removedCount = 0;

  constructor(options: LogStoreOptions, dependencies: LogStoreDependencies = {}) {
    this.#options = { ...options, sizeMax: Math.max(options.sizeMax, SIZE_MIN) };
    this.#now = dependencies.now ?? Date.now;
    this.#onWritten = dependencies.onWritten ?? ((): void => undefined);
    this.#onRetentionFailed = dependencies.onRetentionFailed ?? ((): void => undefined);
    const { database, isReplaced } = openForWriting(options.filePath);
    this.isReplaced = isReplaced;
    this.#database = database;
    this.#insertEntry = database.prepare(
      "INSERT INTO entries (time_ms, arrived_ms, blockchain_id, service_name, level, source)" +
        " VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#insertWords = database.prepare(
      "INSERT INTO entry_words (rowid, message, rest) VALUES (?, ?, ?)",
    );
    this.#insertWords.setReadBigInts(true);
    this.#retentionTimer = setInterval(() => this.retain(), RETENTION_CHECK_MS).unref();
  }

  get removedCount(): number {
    return this.#removedCount;
  }

  /** False when the caller should retry later. */
  hasRoomFor(count: number): boolean {
    return this.#waitingCount === 0 || this.#waitingCount + count <= this.#options.waitingMax;
  }

  /** Rejects with LOG_STORE_WRITE_FAILED; then nothing of it is stored. */
  add(documents: readonly LogDocument[]): Promise<void> {
    if (documents.length === 0) return Promise.resolve();
    this.#waitingCount += documents.length;
    this.#writeTimer ??= setTimeout(() => this.#writeNext(), this.#options.gatherMs);
    return new Promise((resolve, reject) => this.#waiting.push({ documents, resolve, reject }));
  }

  /** Removes entries beyond the limits of age and size. */
  retain(): void {
    try {
      const oldestMs = this.#now() - this.#options.ageMaxMs;
      while (this.#removeOldest("AND arrived_ms < ?", oldestMs) === RETENTION_STEP);
      if (this.#usedSize() <= this.#options.sizeMax) return;
      const goal = this.#options.sizeMax * SIZE_AFTER_RETENTION;
      while (this.#usedSize() > goal && this.#removeOldest("AND 0 <= ?", 0) > 0);
      this.#database.exec("PRAGMA incremental_vacuum");
    } catch (error) {
      // A disk that is full or slow: the next round tries again.
      this.#onRetentionFailed(error);
    }
  }

  close(): void {
    clearInterval(this.#retentionTimer);
    while (this.#waiting.length > 0) this.#writeNext();
    clearTimeout(this.#writeTimer);
    this.#database.close();
  }

  /** Whole requests only: their answer covers all their lines. */
  #writeNext(): void {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
    let count = 0;
    let taken = 0;
    while (taken < this.#waiting.length && (count === 0 || count < BATCH_MAX)) {
      count += this.#waiting[taken]?.documents.length ?? 0;
      taken += 1;
    }
    const requests = this.#waiting.splice(0, taken);
    this.#waitingCount -= count;
    // What cannot be stored is the fault of one sender: the others of the batch are written alone.
    if (!this.#writeAll(requests, requests.length === 1)) {
      for (const request of requests) this.#writeAll([request], true);
    }
    if (this.#waiting.length > 0) this.#writeTimer = setTimeout(() => this.#writeNext(), 0);
  }

  /** False if nothing was written; those who wait for it learn that only of the last try. */
  #writeAll(requests: readonly Waiting[], isLastTry: boolean): boolean {
    try {
      const lastId = this.#write(requests.flatMap(({ documents }) => documents));
      for (const { resolve } of requests) resolve();
      this.#onWritten(lastId);
      return true;
    } catch (error) {
      if (!isLastTry) return false;
      const failure = new CodedError("LOG_STORE_WRITE_FAILED", { reason: String(error) }, error);
      for (const { reject } of requests) reject(failure);
      return false;
    }
  }

  #write(documents: readonly LogDocument[]): number {
    const arrivedMs = this.#now();
    let lastId = 0;
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const { timeMs, fields } of documents) {
        const { lastInsertRowid } = this.#insertEntry.run(
          timeMs,
          arrivedMs,
          columnText(fields["blockchain_id"]),
          columnText(fields["service_name"]),
          columnText(fields["level"]),
          JSON.stringify(fields),
        );
        lastId = Number(lastInsertRowid);
        const { message, rest } = searchableText(fields);
        this.#insertWords.run(lastId, message, rest);
      }
      this.#database.exec("COMMIT");
      return lastId;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  #removeOldest(condition: string, value: number): number {
    const rows = this.#database
      .prepare(`SELECT id FROM entries WHERE id < ? ${condition} ORDER BY id LIMIT ?`)
      .all(Number.MAX_SAFE_INTEGER, value, RETENTION_STEP);
    const last = rows.at(-1)?.["id"];
    const first = rows[0]?.["id"];
    if (typeof last !== "number" || typeof first !== "number") return 0;
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      // Not by statements with results: the text index gives row ids that no number can hold.
      this.#database.exec(`DELETE FROM entry_words WHERE rowid BETWEEN ${first} AND ${last}`);
      this.#database.exec(`DELETE FROM entries WHERE id BETWEEN ${first} AND ${last}`);
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
    this.#removedCount += rows.length;
    return rows.length;
  }

  #usedSize(): number {
    const value = (name: string): number => {
      const found = this.#database.prepare(`PRAGMA ${name}`).get()?.[name];
      return typeof found === "number" ? found : 0;
    };
    return (value("page_count") - value("freelist_count")) * value("page_size");
  }
}

function columnText(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

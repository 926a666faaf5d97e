/** The tables of the log store and the one way to open them. */
import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CodedError } from "../base/coded-error.ts";

const SCHEMA_VERSION = 1;

/**
 * The index covers what the histogram and the first-class filters read, so that they never touch
 * the entries themselves. The text index keeps no copy of the text.
 */
const SCHEMA = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ms INTEGER NOT NULL,
    arrived_ms INTEGER NOT NULL,
    blockchain_id TEXT,
    service_name TEXT,
    level TEXT,
    source TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entries_by_time ON entries (time_ms, blockchain_id, service_name, level);
  CREATE VIRTUAL TABLE entry_words USING fts5 (
    message, rest, content = '', contentless_delete = 1, tokenize = "unicode61"
  );
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Fields with a column of their own: filters by them use the index. */
export const COLUMN_FIELDS: readonly string[] = ["blockchain_id", "service_name", "level"];

export type OpenedDatabase = { readonly database: DatabaseSync; readonly isReplaced: boolean };

/**
 * For writing. A file that is damaged is put aside and a new one begun: a damaged file must not
 * keep the log stack from starting.
 */
export function openForWriting(filePath: string): OpenedDatabase {
  try {
    return { database: open(filePath), isReplaced: false };
  } catch (error) {
    if (!isDamage(error)) throw new CodedError("LOG_STORE_OPEN_FAILED", { filePath }, error);
    renameSync(filePath, `${filePath}.damaged`);
    for (const suffix of ["-wal", "-shm"]) rmSync(filePath + suffix, { force: true });
    return { database: open(filePath), isReplaced: true };
  }
}

/** A second connection: it sees whole batches only. */
export function openForReading(filePath: string): DatabaseSync {
  const database = new DatabaseSync(filePath);
  database.exec("PRAGMA query_only = 1; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384;");
  return database;
}

function open(filePath: string): DatabaseSync {
  const database = new DatabaseSync(filePath);
  try {
    // With a write-ahead log a killed process loses nothing that was committed; a power cut may
    // cost the last moments and never the file. The space of removed entries goes back to the disk;
    // this must be set before the first table exists.
    database.exec(`
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA busy_timeout = 5000;
      PRAGMA cache_size = -16384;
      PRAGMA journal_size_limit = 16777216;
    `);
    const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (version === 0) database.exec(`BEGIN; ${SCHEMA} COMMIT;`);
    else if (version !== SCHEMA_VERSION) {
      throw new CodedError("LOG_STORE_VERSION_UNKNOWN", { filePath, version });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  const text = error instanceof Error ? error.message : "";
  return /malformed|not a database|corrupt/i.test(text);
}

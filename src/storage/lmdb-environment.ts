/**
 * Opening an LMDB file with care. LMDB trusts its file: one that is cut short or overwritten ends
 * the process by a signal instead of an error. So the file is checked before LMDB opens it, and an
 * interrupted opening is remembered.
 */
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { CodedError } from "../base/coded-error.ts";

export type Table = Database<Uint8Array, Uint8Array>;

export type LmdbEnvironment = {
  table(name: string): Table;
  close(): Promise<void>;
};

type Stats = { readonly lastPageNumber: number; readonly entryCount: number };

const DATA_NAME = "data.mdb";
const OPENING_NAME = "opening";
const PAGE_SIZE = 4096;
const META_PAGES = 2;
/** In both meta pages, behind the page header. */
const MAGIC_OFFSET = 24;
const MAGIC = 0xbeefc0de;
/** One interrupted opening may be a coincidence: the process may have been killed just then. */
const BROKEN_OPENINGS_MAX = 1;
const TABLES_MAX = 16;
const BYTES = { encoding: "binary", keyEncoding: "binary" } as const;

/**
 * Opens the environment, calls `check`, which may read and throw, and only then counts it as good.
 * Throws `damagedCode` when the file is not what this program wrote.
 */
export async function openEnvironment(
  directory: string,
  { damagedCode }: { readonly damagedCode: string },
  check: (environment: LmdbEnvironment) => void,
): Promise<LmdbEnvironment> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const damaged = (reason: string, cause?: unknown): CodedError =>
    new CodedError(damagedCode, { path: directory, reason }, cause);
  const openingPath = path.join(directory, OPENING_NAME);
  const brokenOpenings = readCount(openingPath);
  if (brokenOpenings > BROKEN_OPENINGS_MAX) throw damaged("it could not be opened before");
  const dataPath = path.join(directory, DATA_NAME);
  if (!hasMagic(dataPath)) throw damaged("it has no LMDB header");
  writeFileSync(openingPath, `${brokenOpenings + 1}\n`);
  let root: RootDatabase | undefined;
  try {
    root = openRoot(directory);
    const { lastPageNumber } = statsOf(root);
    if (statSync(dataPath).size < (lastPageNumber + 1) * PAGE_SIZE) {
      throw damaged("it was cut short");
    }
    const environment = environmentOf(root);
    check(environment);
    rmSync(openingPath);
    return environment;
  } catch (error) {
    await root?.close();
    rmSync(openingPath, { force: true });
    throw error instanceof CodedError ? error : damaged("LMDB refused it", error);
  }
}

/** A second handle on an environment that this process has open in another thread. */
export function openEnvironmentReader(directory: string): LmdbEnvironment {
  return environmentOf(openRoot(directory));
}

/** Forgets a damaged store, so that it can be filled anew. It must not be open. */
export function removeEnvironment(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

export function entryCount(table: Table): number {
  return statsOf(table).entryCount;
}

/** LMDB gives the numbers of the system's errors as they are, and its own below zero. */
export function lmdbErrorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_PANIC, MDB_VERSION_MISMATCH, MDB_INVALID. */
export function isDamage(error: unknown): boolean {
  const number = lmdbErrorNumber(error) ?? 0;
  return number >= -30797 && number <= -30793;
}

const EIO = 5;
const ENOSPC = 28;
const EDQUOT = 122;
const MAP_FULL = -30792;

/** A write that the system took only in part, as on a full disk, is EIO in LMDB. */
export function isFullDisk(error: unknown, isSpaceLow: boolean): boolean {
  const number = lmdbErrorNumber(error);
  if (number === ENOSPC || number === EDQUOT || number === MAP_FULL) return true;
  return number === EIO && isSpaceLow;
}

/** A transaction is on the disk when its commit returns, on the thread that made it. */
function openRoot(directory: string): RootDatabase {
  return open({
    path: directory,
    ...BYTES,
    noSubdir: false,
    pageSize: PAGE_SIZE,
    maxDbs: TABLES_MAX,
    overlappingSync: false,
  });
}

function environmentOf(root: RootDatabase): LmdbEnvironment {
  return {
    table: (name) => root.openDB<Uint8Array, Uint8Array>({ name, ...BYTES }),
    close: () => root.close(),
  };
}

function statsOf(table: { getStats(): object }): Stats {
  // The library's type for this is an empty object.
  return table.getStats() as Stats;
}

function hasMagic(dataPath: string): boolean {
  const size = sizeOf(dataPath);
  // LMDB makes both meta pages at once when the file is new.
  if (size === 0) return true;
  if (size < META_PAGES * PAGE_SIZE) return false;
  const bytes = Buffer.alloc(META_PAGES * PAGE_SIZE);
  const fd = openSync(dataPath, "r");
  try {
    readSync(fd, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(fd);
  }
  return [0, PAGE_SIZE].every((page) => bytes.readUInt32LE(page + MAGIC_OFFSET) === MAGIC);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readCount(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10);
  } catch {
    return 0;
  }
}

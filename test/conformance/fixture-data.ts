/** Where the official test files are, and what is in them. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "..", "..");
const CACHE = path.join(ROOT, ".cache", "ethereum-tests");

/**
 * One named test of a file. Its shape is decided by its kind; parsers look at it field by field.
 */
export type Fixture = { readonly file: string; readonly name: string; readonly body: Json };

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/**
 * The folder of unpacked tests, or undefined if this machine has none. CONFORMANCE_DATA names a
 * folder of test files or one that holds the archive; otherwise the archive beside the project
 * counts. An archive is unpacked once, and again when it has changed.
 */
export function findFixtureFolder(given: string | undefined): string | undefined {
  const source = given ?? path.join(ROOT, "..", "shared", "conformance");
  const archive = path.join(source, "ethereum-tests.tar.xz");
  if (existsSync(archive)) return unpack(archive);
  if (given !== undefined && existsSync(given)) return given;
  return existsSync(CACHE) ? CACHE : undefined;
}

/** Test files under the folder, sorted, as paths relative to it. */
export function listFixtureFiles(folder: string, filters: readonly string[]): string[] {
  const names = globSync("**/*.json", { cwd: folder });
  const wanted = names.filter(
    (name) => filters.length === 0 || filters.some((filter) => name.includes(filter)),
  );
  return wanted
    .filter((name) => !/(^|\/)(\.meta|index\.json)/.test(name))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** Files that take minutes by what they ask for: 4 billion rounds of BLAKE2, 10^10 gas of loops. */
export function isHeavy(file: string): boolean {
  return /CALLBlake2f_MaxRounds|vmPerformance/.test(file);
}

export function loadFixtures(folder: string, file: string): Fixture[] {
  const text = readFileSync(path.join(folder, file), "utf8");
  const content = asObject(JSON.parse(text) as Json);
  return Object.entries(content).map(([name, body]) => ({ file, name, body }));
}

export function asObject(value: Json | undefined): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("a fixture has something else where an object must stand");
  }
  return value as JsonObject;
}

export function asArray(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw new TypeError("a fixture misses an array");
  return value as readonly Json[];
}

export function asText(value: Json | undefined): string {
  if (typeof value !== "string") throw new TypeError("a fixture misses a text");
  return value;
}

export function asQuantity(value: Json | undefined): bigint {
  if (typeof value === "number") return BigInt(value);
  const text = asText(value);
  // Some files mark a number too big for its field so that readers cannot take it by accident.
  return BigInt(text.replace(/^0x:bigint /, ""));
}

/** The archive is unpacked beside and moved, so that an interrupted run leaves no half folder. */
function unpack(archive: string): string {
  const { size, mtimeMs } = statSync(archive);
  const stamp = `${size} ${mtimeMs}`;
  const stampFile = path.join(CACHE, ".archive");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return CACHE;
  const partial = `${CACHE}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  execFileSync("tar", ["xJf", archive, "-C", partial]);
  writeFileSync(path.join(partial, ".archive"), stamp);
  rmSync(CACHE, { recursive: true, force: true });
  renameSync(partial, CACHE);
  return CACHE;
}

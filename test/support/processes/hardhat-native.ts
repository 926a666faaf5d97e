/**
 * Hardhat's native package. npm leaves it out where npm itself runs on an older Node.js than the
 * package asks for, although our tests run on a newer one: then the very file that the lock names
 * is fetched.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../../..");
const FETCH_TIMEOUT_MS = 120_000;

type LockedPackage = { readonly version: string; readonly integrity: string };

/** What Hardhat needs in its environment, or why it cannot be had. */
export type NativeHardhat =
  { readonly environment: Readonly<Record<string, string>> } | { readonly missing: string };

/** `directory` is for what has to be fetched. */
export function findNativeHardhat(directory: string): NativeHardhat {
  const name = `@nomicfoundation/${nativeName()}`;
  if (existsSync(path.join(ROOT, "node_modules", name))) return { environment: {} };
  const locked = lockedPackage(name);
  if (locked === undefined) return { missing: "Hardhat has no native package for this system" };
  return fetchPackage(name, locked, directory);
}

function fetchPackage(name: string, locked: LockedPackage, directory: string): NativeHardhat {
  const modules = path.join(directory, "native/node_modules");
  const place = path.join(modules, name);
  mkdirSync(place, { recursive: true });
  const options = { cwd: ROOT, timeout: FETCH_TIMEOUT_MS, encoding: "utf8" } as const;
  const spec = `${name}@${locked.version}`;
  const packed = spawnSync("npm", ["pack", spec, "--pack-destination", directory], options);
  const file = path.join(directory, `${name.slice(1).replace("/", "-")}-${locked.version}.tgz`);
  if (packed.status !== 0 || !existsSync(file)) {
    return { missing: `${spec} cannot be had: ${packed.stderr.slice(0, 200)}` };
  }
  const digest = createHash("sha512").update(readFileSync(file)).digest("base64");
  if (`sha512-${digest}` !== locked.integrity) {
    return { missing: `${spec} is not what package-lock.json names` };
  }
  const unpacked = spawnSync("tar", ["-xzf", file, "-C", place, "--strip-components=1"], options);
  if (unpacked.status !== 0) return { missing: `${spec} cannot be unpacked: ${unpacked.stderr}` };
  return { environment: { NODE_PATH: modules } };
}

function lockedPackage(name: string): LockedPackage | undefined {
  const text = readFileSync(path.join(ROOT, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as {
    readonly packages: Readonly<Record<string, LockedPackage | undefined>>;
  };
  return packages[`node_modules/${name}`];
}

function nativeName(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const library = report.header?.glibcVersionRuntime === undefined ? "musl" : "gnu";
  const suffix = process.platform === "linux" ? `-${library}` : "";
  return `edr-${process.platform}-${process.arch}${suffix}`;
}

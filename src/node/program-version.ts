import { readFileSync } from "node:fs";
import path from "node:path";

/** Of the package that this file is part of, compiled or not. */
export function programVersion(): string {
  const file = path.join(import.meta.dirname, "..", "..", "package.json");
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  const isRecord = typeof value === "object" && value !== null && "version" in value;
  return isRecord ? String(value.version) : "unknown";
}

/** Name, version, platform, runtime: what web3_clientVersion gives. */
export function clientVersion(): string {
  return `quorate/v${programVersion()}/${process.platform}-${process.arch}/node${process.version}`;
}

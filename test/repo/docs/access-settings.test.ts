import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { RPC_ACCESS_SETTINGS } from "../../../src/config/rpc-access-settings.ts";

const FILE = path.join(import.meta.dirname, "../../../docs/ethrpc.md");

/** As it stands in the table; a setting that may be left out has none. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" || value === undefined ? (value ?? "") : JSON.stringify(value);
}

describe("the access settings in docs/ethrpc.md", () => {
  it("are all there, with their defaults", () => {
    const text = readFileSync(FILE, "utf8");
    const rows = Array.from(text.matchAll(/^\| `(rpc\.[\w.]+)` +\| ([^|]*)\|/gm), (match) => [
      match[1],
      match[2]!.replaceAll("`", "").trim(),
    ]);
    const settings = Object.entries(RPC_ACCESS_SETTINGS).map(([name, { fallback }]) => [
      name,
      textOf(fallback?.value),
    ]);
    assert.deepEqual(rows, settings);
  });
});

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const ROOT = path.join(import.meta.dirname, "../../..");

/** Codes are the only upper-case words with an underscore that stand in quotes in src. */
const CODE_IN_SOURCE = /"([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)"/g;
/** Variables of the environment look the same. */
const VARIABLE = /^(QUORATE|KUBERNETES)_|^NO_COLOR$|^NODE_COMPILE_CACHE$/;
/** And so do the names that eth_config gives the precompiles. */
const PRECOMPILE = /^(BLS12|BN254|KZG)_/;
const CODE_IN_TABLE = /^\| `([A-Z0-9_]+)` +\|/gm;

describe("docs/errors.md", () => {
  const documented = codes("docs/errors.md", CODE_IN_TABLE);
  const used = globSync("src/**/*.ts", { cwd: ROOT })
    .flatMap((name) => codes(name, CODE_IN_SOURCE))
    .filter((code) => !VARIABLE.test(code) && !PRECOMPILE.test(code));

  it("lists every code that the source knows", () => {
    const missing = [...new Set(used)].filter((code) => !documented.includes(code));
    assert.deepEqual(missing.sort(byText), [], "add a row with its meaning and what to do");
  });

  it("lists no code that nothing uses, and none twice", () => {
    const stale = documented.filter((code) => !used.includes(code));
    assert.deepEqual(stale, [], "delete these rows");
    const twice = documented.filter((code, index) => documented.indexOf(code) !== index);
    assert.deepEqual(twice, [], "one row each");
  });
});

function codes(name: string, pattern: RegExp): string[] {
  const text = readFileSync(path.join(ROOT, name), "utf8");
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "");
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { DEFAULT_CALL_LIMITS } from "../../../src/client/client-options.ts";
import { createMethodTable, type RpcReader } from "../../../src/rpc/methods/method-table.ts";
import type { Submitter } from "../../../src/api/chain-reader.ts";
import type { NetworkStatusReader } from "../../../src/api/network-status.ts";
import { ALWAYS_ANSWERED } from "../../../src/rpc/server/readiness-gate.ts";
import * as rpcErrors from "../../../src/rpc/rpc-error.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";
import { SIMULATION_CODES } from "../../../src/rpc/format/simulation-codes.ts";
import { UNSUPPORTED_METHODS } from "../../../src/rpc/methods/unsupported-methods.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const TEXT = readFileSync(path.join(ROOT, "docs/ethrpc.md"), "utf8");

/** The rows of the tables below a heading, up to the next of the same rank or above. */
function rows(heading: string): string[][] {
  const start = TEXT.indexOf(`\n${heading}\n`);
  assert.ok(start >= 0, `docs/ethrpc.md has no ${heading}`);
  const rank = heading.split(" ", 1)[0]!.length;
  const rest = TEXT.slice(start + heading.length);
  const part = rest.split(new RegExp(`^#{1,${rank}} `, "m"), 1)[0]!;
  return [...part.matchAll(/^\| `([^`]+)` +\|(.*)\|$/gm)].map((match) => [
    match[1]!,
    ...match[2]!.split("|").map((cell) => cell.trim()),
  ]);
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => (a < b ? -1 : 1));
}

describe("docs/ethrpc.md", () => {
  it("lists every method, and none twice or in vain", () => {
    // Nothing is read: the table is only asked for its names.
    const none = {} as RpcReader & Submitter & NetworkStatusReader;
    const methods = sorted(createMethodTable(none, none, none).keys());
    const listed = rows("## Methods").map(([name]) => name!);
    assert.deepEqual(sorted(listed), methods);
    const refused = rows("### Not supported").map(([name]) => name!);
    assert.deepEqual(sorted(refused), sorted(UNSUPPORTED_METHODS.keys()));
  });

  it("has one file for each method", () => {
    const files = globSync("src/rpc/methods/*/**/*.ts", { cwd: ROOT });
    const names = files.map((file) => {
      const text = readFileSync(path.join(ROOT, file), "utf8");
      return /^ {2}name: "(\w+)",$/m.exec(text)?.[1] ?? file;
    });
    const listed = rows("## Methods").map(([name]) => name!);
    const expected = listed.filter((name) => !UNSUPPORTED_METHODS.has(name));
    assert.deepEqual(sorted(names), sorted(expected));
  });

  it("lists every limit with its default", () => {
    const limits = Object.entries(DEFAULT_RPC_LIMITS).map(([name, value]) => [name, String(value)]);
    assert.deepEqual(
      rows("## Limits").map(([name, value]) => [name, value]),
      limits,
    );
    const calls = Object.entries(DEFAULT_CALL_LIMITS).map(([name, value]) => [name, String(value)]);
    assert.deepEqual(
      rows("## Calls that take long").map(([name, value]) => [name, value]),
      calls,
    );
  });

  it("lists the methods that a node answers while it starts", () => {
    const listed = rows("## While the node starts").map(([name]) => name!);
    assert.deepEqual(sorted(listed), sorted(ALWAYS_ANSWERED));
  });

  it("lists every error code", () => {
    const known = Object.values(rpcErrors).filter((value) => typeof value === "number");
    const codes = [...known, ...SIMULATION_CODES.values()].map(String);
    const listed = rows("## Errors").map(([code]) => code!);
    assert.deepEqual(sorted(listed), sorted(new Set(codes)));
  });
});

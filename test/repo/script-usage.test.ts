/** Scripts refuse arguments that they do not know before they start anything. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parseScript, UsageError, usageOf } from "../support/script-arguments.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const TIMEOUT_MS = 60_000;

/** Of package.json, those that are a script of ours: their name and their file. */
const scripts = Object.entries(
  (JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as PackageFile).scripts,
).flatMap(([name, command]) => {
  const file = /^node (\S+\.ts)$/.exec(command)?.[1];
  return file === undefined ? [] : [{ name, file }];
});
type PackageFile = { readonly scripts: Readonly<Record<string, string>> };

const PARAMETERS = {
  seconds: { kind: "number", fallback: 60, min: 1, isWhole: true, isPositional: true },
  share: { kind: "number", min: 0, max: 1 },
  only: { kind: "text", choices: ["a", "b"] },
  keep: { kind: "flag" },
} as const;

describe("every script", () => {
  for (const { name, file } of scripts) {
    it(`${name} ends with 2 and a usage line for nonsense`, async () => {
      await assertUsage(file, ["nonsense", "1", "2", "3", "--nonsense"], name);
    });
  }

  it("is covered: bench, sim, model, fuzz, conformance, cluster, contracts, test", () => {
    const names = scripts.map(({ name }) => name);
    for (const name of ["bench", "sim", "model", "fuzz", "conformance", "cluster", "contracts"]) {
      assert.ok(names.includes(name), `${name} is not run as "node FILE.ts"`);
    }
    assert.ok(names.includes("test"));
  });
});

describe("a benchmark", () => {
  const names = globSync("bench/*.ts", { cwd: ROOT })
    .filter((name) => /export (async )?function (print|bench)/.test(readFileSync(name, "utf8")))
    .map((name) => path.basename(name, ".ts"))
    .filter((name) => name !== "evm-worst-case");

  for (const args of [
    ["nonsense", "1", "2", "3"],
    ["network", "--seconds", "nonsense"],
    ["network", "nonsense"],
    ["network", "20", "250", "7"],
    ["rpc", "20"],
    ["consensus", "20"],
  ]) {
    it(`ends with 2 and a usage line for "${args.join(" ")}"`, async () => {
      await assertUsage("bench/main.ts", args, "bench");
    });
  }

  it("is found by its name in the list of all", async () => {
    const { stderr } = await run("bench/main.ts", []);
    for (const name of names) assert.ok(stderr.includes(name), name);
  });
});

describe("arguments of a script", () => {
  const parse = (...args: string[]): unknown => parseScript("x", PARAMETERS, args);

  it("are named, or given by position, or have a fallback", () => {
    const all = { seconds: 20, share: 0.5, only: "b", keep: true };
    const rest = ["--share", "0.5", "--only=b", "--keep"];
    assert.deepEqual({ ...(parse("--seconds", "20", ...rest) as object) }, all);
    assert.deepEqual({ ...(parse("20", ...rest) as object) }, all);
    const fallbacks = { seconds: 60, share: undefined, only: undefined, keep: false };
    assert.deepEqual({ ...(parse() as object) }, fallbacks);
  });

  it("are refused when a number is none, too small, too large or not whole", () => {
    for (const text of [
      "",
      "x",
      "-1",
      "0",
      "1.5",
      "1e3",
      "NaN",
      "Infinity",
      "0x10",
      "9".repeat(30),
    ])
      assert.throws(() => parse(`--seconds=${text}`), UsageError, text);
    assert.throws(() => parse("--share", "1.01"), UsageError);
  });

  it("are refused when they are unknown, double, missing or too many", () => {
    for (const args of [
      ["--nonsense"],
      ["--only", "c"],
      ["--only"],
      ["--keep=yes"],
      ["20", "30"],
      ["20", "--seconds", "20"],
    ])
      assert.throws(() => parse(...args), UsageError, args.join(" "));
  });

  it("are named in the usage line", () => {
    const usage =
      "usage: npm run x -- [--seconds 60] [--share SHARE] [--only a|b] [--keep], or x [seconds]";
    assert.equal(usageOf("x", PARAMETERS), usage);
    assert.throws(
      () => parse("--help"),
      (error) => error instanceof UsageError && error.message === usage,
    );
  });
});

async function assertUsage(file: string, args: readonly string[], script: string): Promise<void> {
  const { code, stderr, stdout } = await run(file, args);
  assert.equal(code, 2, stderr + stdout);
  assert.match(stderr, new RegExp(`^usage: npm run ${script}\\b`, "m"));
  assert.doesNotMatch(stderr, /\n {4}at /, "no stack trace");
  assert.equal(stdout, "", "nothing was started");
}

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

async function run(file: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    // A script that takes nonsense for an order finds no program to carry it out with.
    env: { PATH: path.join(ROOT, "nowhere") },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}

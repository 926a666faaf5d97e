/**
 * `npm run mutants [-- --mutant name]`: runs the tests of each production mutant against the code
 * with its one rule broken. A mutant that no test notices is a failure, and so is one whose snippet
 * is no longer in its file.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { applyPatch } from "../support/mutation.ts";
import { exitCodeOf, parseScript } from "../support/script-arguments.ts";
import { PRODUCTION_MUTANTS, type ProductionMutant } from "./production-mutants.ts";

const ROOT = path.join(import.meta.dirname, "..", "..");
const COPIED = ["src", "test", "contracts", "package.json", "tsconfig.json", "tsconfig.base.json"];
/** A mutant may loop for ever, which its tests notice by not ending. */
const TEST_MAX_MS = 60_000;

const PARAMETERS = {
  mutant: { kind: "text", choices: PRODUCTION_MUTANTS.map(({ name }) => name) },
} as const;

type Verdict = "found" | "SURVIVED" | "SNIPPET NOT FOUND" | "TEST FAILS ANYWAY";

function main(args: readonly string[]): number {
  const values = parseScript("mutants", PARAMETERS, args);
  const chosen = PRODUCTION_MUTANTS.filter(({ name }) => (values.mutant ?? name) === name);
  const tree = copyTree();
  try {
    let failed = 0;
    const baseline = new Map<string, boolean>();
    for (const mutant of chosen) {
      const startedMs = performance.now();
      const isSound = mutant.tests.every((test) => passesUnmutated(tree, test, baseline));
      const verdict = isSound ? judge(tree, mutant) : "TEST FAILS ANYWAY";
      if (verdict !== "found") failed++;
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      print([verdict.padEnd(17), seconds.padStart(5), mutant.name.padEnd(32), mutant.rule]);
    }
    print([`${chosen.length - failed} of ${chosen.length} mutants found`]);
    return failed === 0 ? 0 : 1;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The tests read and write files beside the sources, so each run works on a copy. */
function copyTree(): string {
  const tree = mkdtempSync(path.join(tmpdir(), "quorate-mutants-"));
  for (const name of COPIED)
    cpSync(path.join(ROOT, name), path.join(tree, name), { recursive: true });
  symlinkSync(path.join(ROOT, "node_modules"), path.join(tree, "node_modules"));
  return tree;
}

/** A test that fails on correct code, or does not end in time, would seem to find every mutant. */
function passesUnmutated(tree: string, test: string, known: Map<string, boolean>): boolean {
  const isPassing = known.get(test) ?? passes(tree, test);
  known.set(test, isPassing);
  return isPassing;
}

function judge(tree: string, mutant: ProductionMutant): Verdict {
  const file = path.join(tree, mutant.file);
  const text = readFileSync(file, "utf8");
  let patched: string;
  try {
    patched = applyPatch(mutant, text);
  } catch {
    return "SNIPPET NOT FOUND";
  }
  writeFileSync(file, patched);
  try {
    return mutant.tests.some((test) => !passes(tree, test)) ? "found" : "SURVIVED";
  } finally {
    writeFileSync(file, text);
  }
}

function passes(tree: string, test: string): boolean {
  const args = ["--test", "--test-isolation=none", test];
  const options = { cwd: tree, stdio: "ignore", timeout: TEST_MAX_MS } as const;
  return spawnSync(process.execPath, args, options).status === 0;
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.join("  ")}\n`);
}

process.exitCode = await exitCodeOf(async (args) => Promise.resolve(main(args)));

/**
 * `npm run model`: explores every bound, then shows that each broken rule is found out, then proves
 * the lemma. `--deep` adds the dearest bound. `--bound name`, `--mutant name` and `--lemma name` run
 * one of these in this process.
 */
import { spawn } from "node:child_process";
import { registerMutant } from "../support/mutation.ts";
import { exitCodeOf, parseScript } from "../support/script-arguments.ts";
import { BOUNDS, type BoundName } from "./bound.ts";
import type { Verdict } from "./check.ts";
import { LEMMA_CASES, provedAnswer } from "./lemma/lemma.ts";
import { MODEL_MUTANTS } from "./mutants.ts";

/** From the cheap to the dear; the small ones belong to `npm test`. */
const FULL_BOUNDS: readonly BoundName[] = [
  "bareViews",
  "bareBlocks",
  "wholeViews",
  "wholeBlocks",
  "lossAfter",
  "lossBefore",
  "longChain",
  "bareEpochs",
];
/** Tens of millions of states: for a change of the rules, not for every day. */
const DEEP_BOUNDS: readonly BoundName[] = ["viewsAndBlocks"];

const PARAMETERS = {
  mutant: { kind: "text", choices: MODEL_MUTANTS.map(({ name }) => name) },
  bound: { kind: "text", choices: Object.keys(BOUNDS) },
  lemma: { kind: "text", choices: LEMMA_CASES },
  json: { kind: "flag" },
  deep: { kind: "flag" },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const values = parseScript("model", PARAMETERS, args);
  if (values.lemma !== undefined) return runLemma(values.lemma);
  if (values.mutant !== undefined) return runMutant(values.mutant, values.json);
  if (values.bound !== undefined) return runBound(values.bound, values.json);
  return runAll(values.deep ? [...FULL_BOUNDS, ...DEEP_BOUNDS] : FULL_BOUNDS);
}

async function runBound(name: string, isJson: boolean): Promise<number> {
  if (!isBoundName(name)) throw new Error(`no such bound: ${name}`);
  const { checkBound } = await import("./check.ts");
  const verdict = checkBound(name);
  print(isJson ? JSON.stringify(verdict) : boundLine(verdict));
  if (!isJson) verdict.trace.forEach(print);
  return verdict.broken === undefined ? 0 : 1;
}

/** The patch must be in place before anything imports the product, hence the late import. */
async function runMutant(name: string, isJson: boolean): Promise<number> {
  const mutant = MODEL_MUTANTS.find((other) => other.name === name);
  if (mutant === undefined) throw new Error(`no such mutant: ${name}`);
  const { rule, change } = mutant;
  const isPatch = typeof change === "object";
  const registration = isPatch ? registerMutant({ name, rule, ...change }) : undefined;
  const { refute } = await import("./check.ts");
  const verdict = refute(mutant.bound, isPatch ? "none" : change);
  registration?.assertApplied();
  print(isJson ? JSON.stringify(verdict) : mutantLine(name, rule, verdict));
  if (!isJson) verdict.trace.forEach((line) => print(`    ${line}`));
  return verdict.broken === undefined ? 1 : 0;
}

async function runLemma(name: string): Promise<number> {
  const { proveCase } = await import("./lemma/lemma.ts");
  const lemma = LEMMA_CASES.find((other) => other === name);
  if (lemma === undefined) throw new Error(`no such case of the lemma: ${name}`);
  print((await proveCase(lemma)).join(" "));
  // The solver's threads would keep the process alive.
  process.exit(0);
}

async function runAll(bounds: readonly BoundName[]): Promise<number> {
  let failures = 0;
  print("bound | states | transitions | depth | seconds | verdict");
  for (const name of bounds) {
    const verdict = await verdictOf(["--bound", name]);
    print(boundLine(verdict));
    verdict.trace.forEach((line) => print(`    ${line}`));
    if (verdict.broken !== undefined) failures += 1;
  }
  print("\nmutant | rule | refuted at depth | states | trace");
  for (const { name, rule } of MODEL_MUTANTS) {
    const verdict = await verdictOf(["--mutant", name]);
    print(mutantLine(name, rule, verdict));
    verdict.trace.forEach((line) => print(`    ${line}`));
    if (verdict.broken === undefined) failures += 1;
  }
  print("\nlemma | answer | seconds");
  for (const lemma of LEMMA_CASES) {
    const startedMs = performance.now();
    const answer = (await childOutput(["--lemma", lemma])).trim();
    print(`${lemma} | ${answer} | ${((performance.now() - startedMs) / 1000).toFixed(1)}`);
    if (answer !== provedAnswer(lemma)) failures += 1;
  }
  print(failures === 0 ? "\nall as it must be" : `\n${failures} FAILED`);
  return failures === 0 ? 0 : 1;
}

async function verdictOf(args: readonly string[]): Promise<Verdict> {
  return JSON.parse(await childOutput([...args, "--json"])) as Verdict;
}

/** One process each: patches must not meet, and memory goes back. */
async function childOutput(args: readonly string[]): Promise<string> {
  const flags = ["--max-old-space-size=8000", import.meta.filename];
  const child = spawn(process.execPath, [...flags, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += String(chunk);
  if (output === "") throw new Error(`${args.join(" ")} said nothing`);
  return output;
}

function boundLine(verdict: Verdict): string {
  const { bound, states, transitions, depth, seconds, broken } = verdict;
  const outcome = broken === undefined ? "exhausted, no violation" : `VIOLATED: ${broken}`;
  return [bound, states, transitions, depth, seconds.toFixed(1), outcome].join(" | ");
}

function mutantLine(name: string, rule: string, verdict: Verdict): string {
  const { states, depth, broken } = verdict;
  const outcome = broken === undefined ? "NOT REFUTED" : depth;
  return [name, rule, outcome, states, broken === undefined ? "" : "shortest:"].join(" | ");
}

function isBoundName(name: string): name is BoundName {
  return name in BOUNDS;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await exitCodeOf(main);

/**
 * The one test command. `npm test` runs everything; `node test/run.ts unit` only that folder.
 * All test files share one process: forty small files start in one second instead of thirty.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import path from "node:path";
import { exitCodeOf, parseScript, UsageError } from "./support/script-arguments.ts";

type Step = { readonly name: string; readonly command: string; readonly args: readonly string[] };

const ROOT = path.join(import.meta.dirname, "..");

const PARAMETERS = {
  folder: { kind: "text", choices: testFolders(), isPositional: true },
} as const;

const STATIC_STEPS: readonly Step[] = [
  { name: "types", command: "npx", args: ["tsc", "-p", "tsconfig.json"] },
  { name: "types of the pure folders", command: "npx", args: ["tsc", "-b", "tsconfig.pure.json"] },
  { name: "lint", command: "npx", args: ["eslint", "."] },
  { name: "format", command: "npx", args: ["prettier", "--check", "--log-level", "warn", "."] },
];

/** Folders of test/ that hold tests, at any depth: `unit`, `integration/deploy`. */
function testFolders(): string[] {
  const files = globSync("*/**/*.test.ts", { cwd: import.meta.dirname });
  const folders = files.flatMap((file) => {
    const names = path.dirname(file).split(path.sep);
    return names.map((_, index) => names.slice(0, index + 1).join("/"));
  });
  return [...new Set(folders)].sort();
}

function testStep(patterns: readonly string[]): Step {
  const files = globSync([...patterns], { cwd: ROOT }).sort((a, b) => (a < b ? -1 : 1));
  // Without a file, Node.js runs all that lies below test/, programs such as test/cluster included.
  if (files.length === 0) throw new UsageError(`no test matches ${patterns.join(" ")}`);
  const flags = ["--test", "--test-isolation=none", "--test-reporter=spec"];
  return { name: "tests", command: process.execPath, args: [...flags, ...files] };
}

/** What it prints appears at once, or, if it runs beside another, in one piece at its end. */
async function run(step: Step, isAlone: boolean): Promise<boolean> {
  const startedMs = performance.now();
  if (isAlone) process.stdout.write(`\n== ${step.name}\n`);
  const child = spawn(step.command, step.args, {
    cwd: ROOT,
    stdio: ["ignore", isAlone ? "inherit" : "pipe", isAlone ? "inherit" : "pipe"],
  });
  const printed: Buffer[] = [];
  child.stdout?.on("data", (bytes: Buffer) => printed.push(bytes));
  child.stderr?.on("data", (bytes: Buffer) => printed.push(bytes));
  const [status] = (await once(child, "close")) as [number | null];
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const verdict = `== ${step.name}: ${status === 0 ? "ok" : "FAILED"} in ${seconds} s\n`;
  process.stdout.write(`${Buffer.concat(printed).toString()}${verdict}`);
  return status === 0;
}

/** One after the other, beside the tests: those leave a core idle for much of their time. */
async function runStatic(): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const step of STATIC_STEPS) if (!(await run(step, false))) failed.push(step.name);
  return failed;
}

async function main(args: readonly string[]): Promise<number> {
  const { folder: selection } = parseScript("test", PARAMETERS, args);
  const patterns =
    selection === undefined ? ["test/**/*.test.ts"] : [`test/${selection}/**/*.test.ts`];
  const [failed, testsOk] = await Promise.all([
    selection === undefined ? runStatic() : [],
    run(testStep(patterns), true),
  ]);
  // Once more, where everyone looks.
  for (const name of failed) process.stdout.write(`== ${name}: FAILED, see above\n`);
  return failed.length === 0 && testsOk ? 0 : 1;
}

process.exitCode = await exitCodeOf(main);

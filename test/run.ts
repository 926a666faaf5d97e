/**
 * The one test command. `npm test` runs everything; `node test/run.ts unit` runs only the tests.
 * All test files share one process: forty small files start in one second instead of thirty.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";

type Step = { readonly name: string; readonly command: string; readonly args: readonly string[] };

const ROOT = path.join(import.meta.dirname, "..");

const STATIC_STEPS: readonly Step[] = [
  { name: "types", command: "npx", args: ["tsc", "-p", "tsconfig.json"] },
  { name: "types of the pure folders", command: "npx", args: ["tsc", "-b", "tsconfig.pure.json"] },
  { name: "lint", command: "npx", args: ["eslint", "."] },
  { name: "format", command: "npx", args: ["prettier", "--check", "--log-level", "warn", "."] },
];

function testStep(patterns: readonly string[]): Step {
  const files = globSync([...patterns], { cwd: ROOT }).sort((a, b) => (a < b ? -1 : 1));
  const flags = ["--test", "--test-isolation=none", "--test-reporter=spec"];
  return { name: "tests", command: process.execPath, args: [...flags, ...files] };
}

function run(step: Step): boolean {
  const startedMs = performance.now();
  process.stdout.write(`\n== ${step.name}\n`);
  const { status } = spawnSync(step.command, step.args, { cwd: ROOT, stdio: "inherit" });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`== ${step.name}: ${status === 0 ? "ok" : "FAILED"} in ${seconds} s\n`);
  return status === 0;
}

function main(args: readonly string[]): number {
  const [selection] = args;
  const staticOk = selection !== undefined || STATIC_STEPS.map(run).every(Boolean);
  const patterns =
    selection === undefined ? ["test/**/*.test.ts"] : [`test/${selection}/**/*.test.ts`];
  const testsOk = run(testStep(patterns));
  return staticOk && testsOk ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));

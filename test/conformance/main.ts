/**
 * `npm run conformance [-- folder-filter ...] [--jobs N]`: runs the official Ethereum tests, all
 * that match, and reports per folder. Any failure makes the exit code 1; so does finding no data.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";

import { exitCodeOf, parseScript, UsageError, usageOf } from "../support/script-arguments.ts";
import { findFixtureFolder, isHeavy, listFixtureFiles } from "./fixture-data.ts";
import type { Outcome } from "./outcome.ts";
import { formatReport } from "./report.ts";

const PARAMETERS = {
  jobs: { kind: "number", min: 1, max: 64, isWhole: true },
  "folder-filter": { kind: "words" },
} as const;
const USAGE = usageOf("conformance", PARAMETERS);
const FILES_PER_TASK = 12;
const JOBS_MAX = 4;
const PROGRESS_EVERY_MS = 15_000;

async function main(args: readonly string[]): Promise<number> {
  const values = parseScript("conformance", PARAMETERS, args);
  const { jobs = Math.min(JOBS_MAX, availableParallelism()), "folder-filter": filters } = values;
  const folder = findFixtureFolder(process.env["CONFORMANCE_DATA"]);
  if (folder === undefined) {
    process.stderr.write("no official tests found: name their folder in CONFORMANCE_DATA\n");
    return 1;
  }
  const files = heavyFirst(listFixtureFiles(folder, filters));
  if (files.length === 0) throw new UsageError(`no test matches ${filters.join(" ")}\n${USAGE}`);
  const startedMs = performance.now();
  const outcomes = await runInChildren(folder, files, jobs);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(formatReport(outcomes));
  process.stdout.write(`${files.length} files in ${seconds} s with ${jobs} jobs\n`);
  const hasFailed = outcomes.some(({ kind }) => kind === "failed");
  return hasFailed || outcomes.length === 0 ? 1 : 0;
}

/** Each child asks for the next few files when it has finished: slow files hold up no other. */
async function runInChildren(
  folder: string,
  files: readonly string[],
  jobs: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const runChild = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(path.join(import.meta.dirname, "worker.ts"));
      const feed = (): void => {
        const size = isHeavy(files[next] ?? "") ? 1 : FILES_PER_TASK;
        const batch = files.slice(next, next + size);
        next += batch.length;
        if (batch.length === 0) child.disconnect();
        else child.send({ folder, files: batch });
      };
      child.on("message", (message) => {
        outcomes.push(...(message as Outcome[]));
        feed();
      });
      child.on("error", reject);
      child.on("exit", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`a conformance worker ended with ${String(code)}`));
      });
      feed();
    });
  const progress = setInterval(() => {
    process.stderr.write(`${outcomes.length} cases done, ${next} of ${files.length} files begun\n`);
  }, PROGRESS_EVERY_MS);
  try {
    await Promise.all(Array.from({ length: jobs }, runChild));
  } finally {
    clearInterval(progress);
  }
  return outcomes;
}

/** Minutes of work in one file: begun last, it would keep one core busy and the others idle. */
function heavyFirst(files: readonly string[]): string[] {
  return [...files.filter(isHeavy), ...files.filter((file) => !isHeavy(file))];
}

process.exitCode = await exitCodeOf(main);

/** The command `fuzz -- evm`: cases from consecutive seeds until the time is over. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { Prng } from "../../../src/base/prng.ts";
import { compareCase, type Comparison } from "./compare.ts";
import type { FuzzCase } from "./fuzz-case.ts";
import { generateCase } from "./generate-case.ts";
import { shrinkCase } from "./shrink.ts";

export const VECTORS_FOLDER = path.join(import.meta.dirname, "..", "..", "vectors", "evm");

export type FuzzReport = {
  readonly cases: number;
  readonly programs: number;
  readonly transactions: number;
  readonly executed: number;
  readonly failures: readonly Failure[];
};

export type Failure = {
  readonly seed: number;
  readonly difference: string;
  readonly fuzzCase: FuzzCase;
};

export type FuzzOptions = {
  readonly seed: number;
  readonly seconds: number;
  readonly casesMax: number;
  /** Stop after so many differences: each is likely the same bug again. */
  readonly failuresMax: number;
};

const REPORT_EVERY_MS = 30_000;
const FAILURES_MAX = 5;

/** Prints counts as it goes; each difference is shrunk and kept as a regression vector. */
export async function fuzzEvmCommand(options: {
  readonly seed: number;
  readonly seconds: number;
}): Promise<number> {
  const bounds = { ...options, casesMax: Infinity, failuresMax: FAILURES_MAX };
  const report = await fuzzEvm(bounds, print);
  print(report);
  for (const failure of report.failures) {
    process.stdout.write(`SEED=${failure.seed} ${failure.difference}\n`);
    process.stdout.write(`kept as ${await keepFailure(failure)}\n`);
  }
  return report.failures.length === 0 ? 0 : 1;
}

export async function fuzzEvm(
  options: FuzzOptions,
  onProgress: (report: FuzzReport) => void,
): Promise<FuzzReport> {
  const deadlineMs = performance.now() + 1000 * options.seconds;
  let reportAtMs = performance.now() + REPORT_EVERY_MS;
  const failures: Failure[] = [];
  let [cases, programs, transactions, executed] = [0, 0, 0, 0];
  const report = (): FuzzReport => ({ cases, programs, transactions, executed, failures });
  while (cases < options.casesMax && performance.now() < deadlineMs) {
    const seed = options.seed + cases;
    const fuzzCase = generateCase(new Prng(seed));
    const comparison = await compareOrReport(fuzzCase);
    cases++;
    programs += countPrograms(fuzzCase);
    transactions += comparison.transactions;
    executed += comparison.executed;
    if (comparison.difference !== undefined) {
      failures.push({ seed, difference: comparison.difference, fuzzCase });
      if (failures.length >= options.failuresMax) break;
    }
    if (performance.now() > reportAtMs) {
      reportAtMs += REPORT_EVERY_MS;
      onProgress(report());
    }
  }
  return report();
}

/** A crash of the oracle ends no run of hours: it is reported with its seed like a difference. */
async function compareOrReport(fuzzCase: FuzzCase): Promise<Comparison> {
  try {
    return await compareCase(fuzzCase);
  } catch (error) {
    const difference = `the oracle threw ${error instanceof Error ? error.message : String(error)}`;
    return { transactions: 0, executed: 0, difference };
  }
}

/** Shrinks a failure and keeps it as a regression vector; returns the file's name. */
export async function keepFailure(failure: Failure): Promise<string> {
  const smallest = await shrinkCase(failure.fuzzCase, async (candidate) => {
    try {
      return (await compareCase(candidate)).difference !== undefined;
    } catch {
      return false;
    }
  });
  const { difference = "" } = await compareCase(smallest);
  const vector = { seed: failure.seed, difference, case: smallest };
  mkdirSync(VECTORS_FOLDER, { recursive: true });
  const file = path.join(VECTORS_FOLDER, `seed-${failure.seed}.json`);
  writeFileSync(file, `${JSON.stringify(vector, undefined, 2)}\n`);
  return file;
}

function countPrograms({ accounts, transactions }: FuzzCase): number {
  const deployed = accounts.filter(({ code }) => code !== "0x" && !code.startsWith("0xef0100"));
  return deployed.length + transactions.filter(({ to }) => to === undefined).length;
}

function print({ cases, programs, transactions, executed, failures }: FuzzReport): void {
  const counts = `${cases} cases, ${programs} programs, ${transactions} transactions`;
  process.stdout.write(`${counts} (${executed} executed), ${failures.length} differences\n`);
}

/**
 * `npm run audit -- [--level high] [--all]`: known vulnerabilities of what a node runs on, or, with
 * --all, of what developers run as well. Exit code 1 where there is one of that level or above.
 * Where the registry has no advisories or cannot be reached, it says so and ends with 0: without an
 * answer there is no verdict.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { exitCodeOf, parseScript } from "../../test/support/script-arguments.ts";
import { auditVerdict, LEVELS } from "./audit-verdict.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const PARAMETERS = {
  level: { kind: "text", fallback: "high", choices: LEVELS },
  all: { kind: "flag" },
} as const;

function main(args: readonly string[]): number {
  const { level, all } = parseScript("audit", PARAMETERS, args);
  const flags = ["--json", "--fetch-retries=1", ...(all ? [] : ["--omit=dev"])];
  const { stdout } = spawnSync("npm", ["audit", ...flags], {
    ...{ cwd: ROOT, encoding: "utf8", timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { code, lines } = auditVerdict(stdout, level);
  for (const line of lines) process.stdout.write(`${line}\n`);
  return code;
}

process.exitCode = await exitCodeOf(main);

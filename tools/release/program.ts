/** Other programs that a release needs. Both throw where one fails. */
import { execFileSync } from "node:child_process";

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Shows what the program writes, on stderr: stdout is the report. */
export function execute(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", process.stderr, process.stderr] });
}

/** What the program writes to stdout. */
export function capture(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, {
    ...{ cwd, encoding: "utf8", maxBuffer: OUTPUT_BYTES_MAX },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

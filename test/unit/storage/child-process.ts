import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

export type Outcome = {
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
};

/**
 * Runs a command and kills it with SIGKILL when its output satisfies `isEnough`, plus a delay; or
 * lets it end by itself. It never outlives the deadline.
 */
export async function runUntil(
  command: readonly string[],
  isEnough: (lines: readonly string[]) => boolean,
  { delayMs = 0, deadlineMs = 20_000 }: { delayMs?: number; deadlineMs?: number } = {},
): Promise<Outcome> {
  const [program = "", ...args] = command;
  const child: ChildProcessByStdio<null, Readable, null> = spawn(program, args, {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  let output = "";
  let kill: NodeJS.Timeout | undefined;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    output += chunk;
    if (kill !== undefined || !isEnough(completeLines(output))) return;
    kill = setTimeout(() => child.kill("SIGKILL"), delayMs);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(deadline);
  clearTimeout(kill);
  return { lines: completeLines(output), code, signal };
}

/** The last number that the child reported under this word, or undefined. */
export function lastReported(lines: readonly string[], word: string): number | undefined {
  const line = lines.findLast((each) => each.startsWith(`${word} `));
  return line === undefined ? undefined : Number(line.slice(word.length + 1));
}

function completeLines(output: string): string[] {
  return output.split("\n").slice(0, -1);
}

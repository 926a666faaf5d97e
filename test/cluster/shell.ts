/** Runs other programs: to their end, or in the background with a log. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LOGS, NAMESPACE } from "./machine.ts";

export type RunOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly directory?: string;
};

const TIMEOUT_MS = 120_000;
const OUTPUT_MAX = 64 * 1024 * 1024;
const STOP_TIMEOUT_MS = 20_000;
const LOG_TAIL_LINES = 15;

/** What it printed. Throws with what it complained about. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): string {
  const { status, stdout, stderr } = attempt(program, args, options);
  if (status === 0) return stdout;
  const said = (stderr === "" ? stdout : stderr).trim();
  throw new Error(`${path.basename(program)} ${args.slice(0, 4).join(" ")}: ${status}: ${said}`);
}

export function attempt(
  program: string,
  args: readonly string[],
  { environment = {}, input = "", timeoutMs = TIMEOUT_MS, directory }: RunOptions = {},
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(program, [...args], {
    env: { ...process.env, ...environment },
    ...(directory !== undefined && { cwd: directory }),
    input,
    timeout: timeoutMs,
    maxBuffer: OUTPUT_MAX,
    encoding: "utf8",
  });
  if (error !== undefined && status === null) return { status, stdout, stderr: error.message };
  return { status, stdout, stderr };
}

/** The command, in the cluster's network namespace. Mounts stay those of the machine. */
export function inNamespace(command: readonly string[]): string[] {
  return ["nsenter", `--net=/run/netns/${NAMESPACE}`, ...command];
}

/** A program in the background. It is stopped by its own process id. */
export class Daemon {
  readonly name: string;
  readonly #child: ChildProcess;
  #exit: string | undefined;

  constructor(name: string, command: readonly string[], directory: string) {
    this.name = name;
    mkdirSync(LOGS, { recursive: true });
    const log = openSync(path.join(LOGS, `${name}.log`), "w");
    const [program = "", ...args] = command;
    this.#child = spawn(program, args, {
      cwd: directory,
      stdio: ["ignore", log, log],
      // Of its own group: Ctrl-C comes to the run, which then stops all in order.
      detached: true,
    });
    closeSync(log);
    this.#child.on("exit", (code, signal) => {
      this.#exit = `ended by itself (${code ?? signal ?? "?"})`;
    });
    this.#child.on("error", (error) => {
      this.#exit = error.message;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  assertRunning(): void {
    if (this.#exit === undefined) return;
    throw new Error(`${this.name} ${this.#exit}\n${logTail(this.name)}`);
  }

  async stop(): Promise<void> {
    if (this.#exit !== undefined) return;
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }
}

/** Asks until the answer is not undefined. Throws when the time is over. */
export async function waitFor<Value>(
  what: string,
  timeoutMs: number,
  ask: () => Value | undefined | Promise<Value | undefined>,
  intervalMs = 250,
): Promise<Value> {
  const deadlineMs = performance.now() + timeoutMs;
  let failure = "";
  while (performance.now() < deadlineMs) {
    try {
      const value = await ask();
      if (value !== undefined) return value;
    } catch (error) {
      failure = error instanceof Error ? `: ${error.message}` : "";
    }
    await sleep(intervalMs);
  }
  throw new Error(`waited ${Math.round(timeoutMs / 1000)} s in vain for ${what}${failure}`);
}

export function logTail(name: string): string {
  const lines = readFileSync(path.join(LOGS, `${name}.log`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.slice(-LOG_TAIL_LINES).join("\n");
}

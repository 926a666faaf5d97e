/**
 * A whole network as `quorate up` runs it: a supervisor and five nodes, all real processes on a real
 * disk. For tests and benchmarks that look at it from outside.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Hex } from "../../../src/base/hex.ts";

export const READY_LINE = "client_id=8 is serving - the pool is ready";
export const PROGRAM = path.join(import.meta.dirname, "../../../bin/quorate.js");
export const SERVICES = ["replica-0", "replica-1", "replica-2", "replica-3", "client-0"] as const;
export type Service = (typeof SERVICES)[number];

const READY_TIMEOUT_MS = 60_000;
const WAIT_POLL_MS = 20;

export type NetworkOptions = {
  /** Without one, a new directory that is deleted when the network stops. */
  readonly dataPath?: string;
  /** Of ethrpc; a free one without it. */
  readonly port?: number;
  /** More flags of `quorate up`. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

export type RunningNetwork = {
  /** Of ethrpc. */
  readonly url: string;
  readonly chainId: bigint;
  /** Funded ones whose keys everyone knows. */
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[];
  readonly dataPath: string;
  /** From the start of the command to its ready line. */
  readonly readyMs: number;
  readonly supervisor: ChildProcess;
  /** All that `up` wrote so far: stdout and stderr. */
  readonly output: { stdout: string; stderr: string };
  /** The process of a node now; undefined while it is down. */
  pid(service: Service): number | undefined;
  pids(): ReadonlyMap<Service, number>;
  /** Without a word: the supervisor starts it again unless it was only stopped (SIGSTOP). */
  kill(service: Service, signal?: NodeJS.Signals): void;
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** The answer of a node's health server at /live, /ready or /status. */
  health(service: Service, place: string): Promise<unknown>;
  /** The exit code, after a clean stop (SIGTERM). */
  stop(): Promise<number | null>;
};

/** Resolves when all nodes are ready. Rejects with what `up` wrote when it ended before. */
export async function startNetwork(options: NetworkOptions = {}): Promise<RunningNetwork> {
  const { port = 0, args = [], environment = {} } = options;
  const dataPath = options.dataPath ?? mkdtempSync(path.join(tmpdir(), "quorate-network-"));
  const startedMs = performance.now();
  const command = ["up", "--json", "--data", dataPath, "--port", String(port), ...args];
  const supervisor = spawn(process.execPath, [PROGRAM, ...command], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const output = { stdout: "", stderr: "" };
  supervisor.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  supervisor.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  const ended = once(supervisor, "close");
  const hasEnded = (): boolean => supervisor.exitCode !== null || supervisor.signalCode !== null;
  await waitFor(() => hasEnded() || output.stdout.includes(READY_LINE), "ready", READY_TIMEOUT_MS);
  if (hasEnded()) throw new Error(`quorate up ended: ${output.stderr}${output.stdout}`);
  const readyMs = performance.now() - startedMs;
  const summary = JSON.parse(output.stdout) as Summary;
  const { rpcUrl: url, accounts } = summary;
  const nodeOf = (service: Service): SupervisedNode | undefined =>
    supervisorRecord(dataPath).nodes.find(({ name }) => name === service);
  // Ready means three replicas; tests mean all of them, but for one that has said why it cannot.
  const isSettled = (service: Service): Promise<boolean> =>
    health(dataPath, service, "/ready").then(
      (answer) => (answer as { readonly isReady?: boolean }).isReady === true,
      () => nodeOf(service)?.failure !== undefined,
    );
  const areSettled = async (): Promise<boolean> =>
    hasEnded() || (await Promise.all(SERVICES.map(isSettled))).every(Boolean);
  await waitFor(areSettled, "all nodes are ready", READY_TIMEOUT_MS).catch((error: unknown) => {
    supervisor.kill("SIGTERM");
    throw error;
  });
  const pid = (service: Service): number | undefined => nodeOf(service)?.pid;
  return {
    ...{ url, accounts, dataPath, readyMs, supervisor, output, pid },
    chainId: BigInt(summary.chainId),
    pids: () =>
      new Map(
        SERVICES.flatMap((service) => {
          const found = pid(service);
          return found === undefined ? [] : [[service, found] as const];
        }),
      ),
    kill(service, signal = "SIGKILL") {
      const found = pid(service);
      if (found === undefined) throw new Error(`${service} is down already`);
      process.kill(found, signal);
    },
    rpc: (method, params = []) => rpc(url, method, params),
    health: (service, place) => health(dataPath, service, place),
    async stop() {
      supervisor.kill("SIGTERM");
      await ended;
      if (options.dataPath === undefined) rmSync(dataPath, { recursive: true, force: true });
      return supervisor.exitCode;
    },
  };
}

export type CommandResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A command from start to end. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  await once(child, "close");
  return { code: child.exitCode, ...output };
}

/** One line, what happened and what to do, and exit code 1. */
export function assertOneLine(
  { code, stderr, stdout }: CommandResult,
  error: string,
  words: RegExp,
): void {
  assert.equal(code, 1, stderr + stdout);
  const lines = stderr.split("\n").filter((line) => line.startsWith("error "));
  assert.equal(lines.length, 1, stderr);
  assert.ok(lines[0]!.startsWith(`error ${error}: `), stderr);
  assert.match(lines[0]!, words);
  assert.doesNotMatch(stderr, /\n {4}at /, "no stack trace");
}

export async function rpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ id: 1, jsonrpc: "2.0", method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** Polls until it holds. Throws when it takes too long. */
export async function waitFor(
  holds: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 20_000,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, WAIT_POLL_MS));
  }
}

/** What `up --json` prints. */
type Summary = Pick<RunningNetwork, "accounts"> & {
  readonly rpcUrl: string;
  readonly chainId: string;
};

type SupervisedNode = { readonly name: string; readonly pid?: number; readonly failure?: string };

type SupervisorRecord = {
  readonly pid: number;
  readonly rpcUrl: string;
  readonly nodes: readonly SupervisedNode[];
};

export function supervisorRecord(dataPath: string): SupervisorRecord {
  return JSON.parse(
    readFileSync(path.join(dataPath, "supervisor.json"), "utf8"),
  ) as SupervisorRecord;
}

async function health(dataPath: string, service: Service, place: string): Promise<unknown> {
  const file = path.join(dataPath, "config", `${service}.json`);
  const config = JSON.parse(readFileSync(file, "utf8")) as { health: { port: number } };
  const response = await fetch(`http://127.0.0.1:${config.health.port}${place}`);
  return response.json();
}

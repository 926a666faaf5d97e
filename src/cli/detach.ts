/**
 * `quorate up --detach`: runs the supervisor as a process of its own, which reports its progress
 * here.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import { isRecord } from "../base/parse-json.ts";
import type { NetworkFile } from "../config/network-file.ts";
import type { Arguments } from "./command.ts";
import { loadNetworkFile } from "../node/load-config.ts";
import { networkPaths } from "../local-network/network-paths.ts";
import { READY_LINE } from "../node/ready-line.ts";
import { paint, type Terminal } from "./terminal.ts";
import type { UpOptions } from "../local-network/up-options.ts";
import { summaryLines } from "./up-summary-text.ts";
import type { UpSummary } from "../local-network/up-summary.ts";
import type { UpReporter } from "../local-network/run-network.ts";

export const DETACHED_VARIABLE = "QUORATE_DETACHED";

type StarterMessage =
  | { readonly kind: "note"; readonly line: string }
  | { readonly kind: "ready"; readonly summary: UpSummary }
  | { readonly kind: "failed"; readonly text: string };

const PROGRAM = path.join(import.meta.dirname, "..", "..", "bin", "quorate.js");
const READY_TIMEOUT_MS = 120_000;

/** In the detached process. Its starter exits once the network is ready. */
export function reportToStarter(): UpReporter & { failed(text: string): void } {
  const tell = (message: StarterMessage): void => {
    if (process.send === undefined || !process.connected) return;
    process.send(message, undefined, undefined, () => undefined);
  };
  // Later events are in its log.
  const note = (line: string): void => {
    process.stdout.write(`${new Date().toISOString()} ${line}\n`);
    tell({ kind: "note", line });
  };
  return {
    note,
    ready: (summary) => {
      note(READY_LINE);
      tell({ kind: "ready", summary });
    },
    failed: (text) => {
      note(`error ${text}`);
      tell({ kind: "failed", text });
    },
  };
}

/** In the starter: returns when the network is ready or its start failed. */
export async function detach(
  given: Arguments,
  options: UpOptions,
  terminal: Terminal,
): Promise<number> {
  const log = networkPaths(options.root).supervisorLog;
  const file = options.isEphemeral ? undefined : openLog(log);
  const output = file ?? "ignore";
  const child = spawn(process.execPath, [PROGRAM, "up", ...argumentsOf(given)], {
    detached: true,
    stdio: ["ignore", output, output, "ipc"],
    env: { ...process.env, [DETACHED_VARIABLE]: "1" },
  });
  if (file !== undefined) closeSync(file);
  const outcome = Promise.withResolvers<UpSummary>();
  child.on("message", (message) => {
    if (!isRecord(message)) return;
    const report = message as StarterMessage;
    if (report.kind === "note") terminal.note(paint(terminal, "dim", report.line));
    else if (report.kind === "ready") outcome.resolve(report.summary);
    else outcome.reject(new DetachedFailure(report.text));
  });
  child.on("exit", (code) => {
    outcome.reject(
      new DetachedFailure(`NODE_FAILED: it ended with code ${String(code)}; see ${log}`),
    );
  });
  const timer = setTimeout(() => {
    const seconds = READY_TIMEOUT_MS / 1000;
    outcome.reject(new CodedError("START_TOO_SLOW", { seconds, logs: log }));
  }, READY_TIMEOUT_MS);
  try {
    const summary = await outcome.promise;
    report(summary, loadNetworkFile(networkPaths(summary.data).networkFile), options, terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof DetachedFailure)) throw error;
    terminal.note(`error ${error.message}`);
    return 1;
  } finally {
    clearTimeout(timer);
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** The line that the detached process already made of its error. */
class DetachedFailure extends Error {}

function report(
  summary: UpSummary,
  file: NetworkFile,
  { isJson }: UpOptions,
  terminal: Terminal,
): void {
  if (isJson) {
    terminal.result(JSON.stringify({ ...summary, message: READY_LINE }));
    return;
  }
  for (const line of summaryLines(summary, file, terminal)) terminal.result(line);
  terminal.result(READY_LINE);
  terminal.note(paint(terminal, "dim", `stop it with: quorate down --data ${summary.data}`));
}

function openLog(log: string): number {
  mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 });
  return openSync(log, "a", 0o600);
}

/** As they were given, without --detach. */
function argumentsOf({ texts, switches }: Arguments): readonly string[] {
  return [
    ...Object.entries(texts).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    ),
    ...[...switches].filter((name) => name !== "detach").map((name) => `--${name}`),
  ];
}

/** The log stack as a process of its own, to be measured and killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { PROGRAM } from "./network-process.ts";

export type LogStackProcess = {
  readonly child: ChildProcess;
  readonly inputUrl: string;
  readonly searchUrl: string;
  readonly viewerUrl: string;
};

type Entry = Readonly<Record<string, unknown>>;

export async function startLogStack(
  dataPath: string,
  args: readonly string[] = [],
): Promise<LogStackProcess> {
  const ports = ["input", "search", "viewer"].flatMap((name) => [`--${name}-port`, "0"]);
  const child = spawn(
    process.execPath,
    [PROGRAM, "log-stack", "--data", dataPath, ...ports, ...args],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  const entry = await new Promise<Entry>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the log stack ended: ${text}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const line = text.split("\n").find((one) => one.includes("log stack serves"));
      if (line !== undefined) resolve(JSON.parse(line) as Entry);
    });
  });
  const urlOf = (name: string): string => `http://127.0.0.1:${String(entry[name])}`;
  return {
    child,
    inputUrl: urlOf("inputPort"),
    searchUrl: urlOf("searchPort"),
    viewerUrl: urlOf("viewerPort"),
  };
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

export async function countStored(searchUrl: string): Promise<number> {
  const response = await fetch(`${searchUrl}/logs-generic-default/_count`);
  return ((await response.json()) as { count: number }).count;
}

/** Of a process, by what the system counts; undefined where it does not tell. */
export function usageOf(pid: number): { readonly cpuMs: number; readonly residentSize: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuMs: ticks * 10, residentSize: Number(peak) * 1024 };
}

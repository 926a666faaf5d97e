/** Four replicas as processes of their own, with their data in a directory that goes at the end. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { chooseFreePorts } from "../../src/local-network/free-ports.ts";
import type { ReplicaCounters } from "../../src/replica/replica-report.ts";
import { REPLICA_COUNT } from "../support/replica-network.ts";
import type { ReplicaProcessOptions } from "./replica-process.ts";

export const ALL: readonly number[] = Array.from({ length: REPLICA_COUNT }, (_, index) => index);
const SCRIPT = path.join(import.meta.dirname, "replica-process.ts");

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class ReplicaProcesses {
  readonly #directory = mkdtempSync(path.join(tmpdir(), "quorate-kill-"));
  readonly #children = new Map<number, Child>();
  ports: readonly number[] = [];
  /** What they all printed. */
  log = "";

  dataPath(index: number): string {
    return path.join(this.#directory, `replica-${index}`);
  }

  async counters(index: number): Promise<ReplicaCounters> {
    const child = this.#children.get(index);
    if (child === undefined) throw new Error(`replica ${index} does not run`);
    const answered = once(child.stdout, "data");
    child.kill("SIGUSR2");
    const [text] = (await answered) as [Buffer];
    return JSON.parse(text.toString()) as ReplicaCounters;
  }

  /** Makes one that refuses its state serve it. */
  tell(index: number): void {
    this.#children.get(index)?.kill("SIGHUP");
  }

  async choosePorts(): Promise<void> {
    this.ports = await chooseFreePorts(REPLICA_COUNT);
  }

  /** Resolves when it listens. */
  async start(
    index: number,
    startMode: ReplicaProcessOptions["startMode"],
    more: Partial<ReplicaProcessOptions> = {},
  ): Promise<void> {
    const dataPath = this.dataPath(index);
    const options: ReplicaProcessOptions = {
      ...{ index, dataPath, ports: this.ports, startMode },
      ...more,
    };
    const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe"],
      // Compiled once for all starts: half of a start is reading the sources.
      env: { ...process.env, NODE_COMPILE_CACHE: path.join(this.#directory, "compiled") },
    });
    this.#children.set(index, child);
    child.stderr.on("data", (text: Buffer) => {
      this.log += text.toString();
      if (process.env["REPLICA_LOG"] !== undefined)
        appendFileSync(process.env["REPLICA_LOG"], text);
    });
    const exited = once(child, "exit").then(([code]) => {
      throw new Error(`replica ${index} ended with ${String(code)}`);
    });
    await Promise.race([once(child.stdout, "data"), exited]);
    exited.catch(() => undefined);
  }

  /** Like the loss of the process: nothing is flushed, no peer is notified. */
  async kill(index: number): Promise<void> {
    const child = this.#children.get(index);
    this.#children.delete(index);
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async close(): Promise<void> {
    await Promise.all(ALL.map((index) => this.kill(index)));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

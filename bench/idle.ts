/**
 * A network that has nothing to do: what it costs. `npm run bench -- idle [--seconds N]` starts one,
 * gives it some work first, and then watches it do nothing.
 */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { AcknowledgedLoad } from "../test/support/acknowledged-load.ts";
import { startNetwork } from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import { anonymousMegabytes, cpuSeconds } from "./network/process-usage.ts";

export const PARAMETERS = {
  seconds: { kind: "number", fallback: 300, min: 1, isPositional: true },
} as const;
const WORK_MS = 5_000;
/** What was executed is written behind; after this nothing should be. */
const SETTLE_MS = 10_000;

export async function printIdleBench({ seconds }: Values<typeof PARAMETERS>): Promise<void> {
  const network = await startNetwork({});
  try {
    const load = new AcknowledgedLoad(network);
    await pause(WORK_MS);
    await load.stop();
    await load.assertKept();
    await pause(SETTLE_MS);
    const pids = [...network.pids()];
    const cpuBefore = new Map(pids.map(([name, pid]) => [name, cpuSeconds(pid)]));
    const filesBefore = filesOf(network.dataPath);
    const blockBefore = await network.rpc("eth_blockNumber");
    process.stdout.write(`idle for ${seconds} s after ${load.acknowledged.length} transactions\n`);
    await pause(seconds * 1000);
    const rows = pids.map(([name, pid]) => ({
      process: name,
      "CPU %": ((100 * (cpuSeconds(pid) - (cpuBefore.get(name) ?? 0))) / seconds).toFixed(2),
      "anonymous MB": anonymousMegabytes(pid).toFixed(0),
    }));
    console.table(rows);
    const blockAfter = await network.rpc("eth_blockNumber");
    process.stdout.write(`blocks: ${Number(blockAfter) - Number(blockBefore)} new\n`);
    const changed = changes(filesBefore, filesOf(network.dataPath));
    process.stdout.write(`files: ${changed.length === 0 ? "none changed" : changed.join(", ")}\n`);
  } finally {
    await network.stop();
  }
}

type FileState = { readonly size: number; readonly modifiedMs: number };

function filesOf(folder: string): Map<string, FileState> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = path.join(entry.parentPath, entry.name);
        const { size, mtimeMs } = statSync(file);
        return [path.relative(folder, file), { size, modifiedMs: mtimeMs }];
      }),
  );
}

/** In words, one for each file that grew, shrank, came, or was written to. */
function changes(
  before: ReadonlyMap<string, FileState>,
  after: ReadonlyMap<string, FileState>,
): string[] {
  return [...after].flatMap(([name, now]) => {
    const then = before.get(name);
    if (then === undefined) return `${name} is new`;
    if (then.size !== now.size) return `${name} grew by ${now.size - then.size} bytes`;
    return then.modifiedMs === now.modifiedMs ? [] : `${name} was written to`;
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

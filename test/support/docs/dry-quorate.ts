/**
 * quorate for the commands of the documentation. What only writes files is run; what needs a
 * network or a cluster reads its flags.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseArguments } from "../../../src/cli/command.ts";
import { COMMANDS } from "../../../src/cli/command-table.ts";

export const DRY_QUORATE = import.meta.filename;

const PROGRAM = path.join(import.meta.dirname, "../../../bin/quorate.js");
const RUN = [/^keys create /, /^genesis (create|alloc) /];

if (import.meta.main) await dryRun(process.argv.slice(2));

async function dryRun(args: readonly string[]): Promise<void> {
  if (RUN.some((pattern) => pattern.test(args.join(" ")))) {
    const { status } = spawnSync(process.execPath, [PROGRAM, ...args], { stdio: "inherit" });
    process.exitCode = status ?? 1;
    return;
  }
  const command = await COMMANDS.get(args[0] ?? "")?.load();
  if (command === undefined) throw new Error(`there is no quorate ${args[0] ?? ""}`);
  parseArguments(command, args.slice(1));
}

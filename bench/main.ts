/** `npm run bench -- <name> [--option value ...]`: measures one part and prints what it found. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import {
  exitCodeOf,
  parseScript,
  UsageError,
  type Parameters,
} from "../test/support/script-arguments.ts";

/** Files of this folder that others use. */
const PARTS = ["main", "evm-worst-case"];

/**
 * A benchmark is a file of this folder; it is loaded only when it is asked for, so that what it
 * needs is not needed by the others. Its function is the one whose name begins with "print" or,
 * if there is none, with "bench". It gets the values of the options that the file exports as
 * PARAMETERS, which are checked before it is called. What a "bench" function returns is printed as
 * a table. A number is the exit code: not 0 where a figure is not what it must be.
 */
async function main(args: readonly string[]): Promise<number> {
  const [name = ""] = args;
  const file = path.join(import.meta.dirname, `${name}.ts`);
  if (!/^[a-z-]+$/.test(name) || PARTS.includes(name) || !existsSync(file)) {
    const usage = `usage: npm run bench -- <${names().join("|")}> [--option value ...]`;
    throw new UsageError(name === "" ? usage : `there is no benchmark "${name}"\n${usage}`);
  }
  const module = (await import(file)) as Readonly<Record<string, unknown>>;
  const parameters = (module["PARAMETERS"] ?? {}) as Parameters;
  const values = parseScript(`bench -- ${name}`, parameters, args.slice(1));
  const functions = Object.entries(module).filter(([, value]) => typeof value === "function");
  const entry =
    functions.find(([key]) => key.startsWith("print")) ??
    functions.find(([key]) => key.startsWith("bench"));
  if (entry === undefined) {
    process.stderr.write(`bench/${name}.ts exports no function named print... or bench...\n`);
    return 1;
  }
  const result = await (entry[1] as (given: typeof values) => unknown)(values);
  if (typeof result === "number") return result;
  if (Array.isArray(result)) console.table(result);
  else if (typeof result === "object" && result !== null) console.table([result]);
  return 0;
}

function names(): string[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".ts"));
  return files.map((name) => name.slice(0, -3)).filter((name) => !PARTS.includes(name));
}

process.exitCode = await exitCodeOf(main);

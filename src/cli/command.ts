/** A command of the program: its name, its arguments, its action. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { CodedError } from "../base/coded-error.ts";
import type { Terminal } from "./terminal.ts";

export type OptionSpec = {
  /** Without dashes. */
  readonly name: string;
  /** What stands for the value in the help; a switch has none. */
  readonly value?: string;
  readonly summary: string;
};

export type Arguments = {
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
};

export type CommandContext = {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type Command = {
  readonly name: string;
  readonly summary: string;
  /** After the name of the command, for example `[service ...]`. */
  readonly positionals?: string;
  readonly options: readonly OptionSpec[];
  /** What the help adds below the options. */
  readonly details?: string;
  /** The exit code. */
  run(given: Arguments, context: CommandContext): Promise<number>;
};

/** The user asked for something that does not exist: exit code 2. */
export function usageError(message: string, command?: string): CodedError {
  return new CodedError("USAGE_WRONG", { message, command });
}

export function parseArguments(
  command: Pick<Command, "name" | "options" | "positionals">,
  args: readonly string[],
): Arguments {
  const options: ParseArgsOptionsConfig = {};
  for (const { name, value } of command.options) {
    options[name] = { type: value === undefined ? "boolean" : "string" };
  }
  const allowPositionals = command.positionals !== undefined;
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals, strict: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // Only the first sentence is shown: the others of Node's message address developers.
    throw usageError(text.split(/[.\n]/)[0] ?? text, command.name);
  }
  const texts: Record<string, string> = {};
  const switches = new Set<string>();
  for (const [name, value] of Object.entries(parsed.values)) {
    if (typeof value === "string") texts[name] = value;
    else if (value === true) switches.add(name);
  }
  return { texts, switches, positionals: parsed.positionals };
}

/** The program: finds the command, runs it, and turns a failure into one line and an exit code. */
import { CodedError } from "../base/coded-error.ts";
import { parseArguments, usageError, type CommandContext } from "./command.ts";
import { COMMANDS } from "./command-table.ts";
import { errorLine } from "../node/error-line.ts";
import { commandHelp, programHelp } from "./help-text.ts";
import { createTerminal } from "./terminal.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

export async function main(args: readonly string[]): Promise<void> {
  const { env: environment, stdout, stderr } = process;
  // A closed reader (`quorate logs | head`) is not a failure.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  const terminal = createTerminal({ stdout, stderr }, environment);
  // The process exits explicitly: leftover channels and sockets may keep the event loop alive.
  process.exit(await exitCodeOf(args, { terminal, environment }));
}

async function exitCodeOf(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await dispatch(args, context);
  } catch (error) {
    context.terminal.note(errorLine(error));
    const isUsage = error instanceof CodedError && error.code === "USAGE_WRONG";
    return isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function dispatch(args: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    return help(rest[0], context);
  }
  const entry = COMMANDS.get(name === "--version" || name === "-v" ? "version" : name);
  if (entry === undefined) throw usageError(`there is no command "${name}"`);
  if (rest.includes("--help") || rest.includes("-h")) return help(name, context);
  const command = await entry.load();
  return command.run(parseArguments(command, rest), context);
}

async function help(name: string | undefined, { terminal }: CommandContext): Promise<number> {
  if (name === undefined || name === "help") {
    terminal.result(programHelp());
    return 0;
  }
  const entry = COMMANDS.get(name);
  if (entry === undefined) throw usageError(`there is no command "${name}"`);
  terminal.result(commandHelp(await entry.load()));
  return 0;
}

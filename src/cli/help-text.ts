import type { Command, OptionSpec } from "./command.ts";
import { COMMANDS } from "./command-table.ts";

const INDENT = "  ";

export function programHelp(): string {
  const rows = [...COMMANDS].map(([name, { summary }]): [string, string] => [name, summary]);
  return [
    "quorate: a private Ethereum network of four BFT replicas and one JSON-RPC node",
    "",
    "Usage: quorate <command> [options]",
    "",
    ...columns([...rows, ["help", "show this, or the help of a command"]]),
    "",
    'Start with "quorate up". Help of a command: "quorate help <command>".',
  ].join("\n");
}

export function commandHelp(command: Command): string {
  const { name, summary, positionals, options, details } = command;
  const usage = ["quorate", name, ...(positionals === undefined ? [] : [positionals])].join(" ");
  const rows = options.map((option): [string, string] => [flagText(option), option.summary]);
  return [
    `${usage}: ${summary}`,
    ...(rows.length === 0 ? [] : ["", ...columns(rows)]),
    ...(details === undefined ? [] : ["", details]),
  ].join("\n");
}

function flagText({ name, value }: OptionSpec): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${INDENT}${left.padEnd(width)}  ${right}`);
}

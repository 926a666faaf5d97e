/** A log entry for people: time, level, service, message, then its data. */
import type { LogLevel } from "./log-entry.ts";

export type PrettyOptions = { readonly hasColour: boolean };

const COLOURS: Readonly<Record<LogLevel, number>> = { debug: 90, info: 32, warn: 33, error: 31 };
const DIM = 2;
const BOLD = 1;
/** Shown elsewhere in the line, or the same in every line. */
const PLACED: ReadonlySet<string> = new Set([
  ...["level", "logtime", "blockchain_id", "service_name", "node_id", "logger", "message"],
]);
const LEVEL_WIDTH = 5;

/** The line without its end. Text that is no entry stays as it is. */
export function formatEntry(line: string, { hasColour }: PrettyOptions): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const paint = (code: number, text: string): string =>
    hasColour ? `\u001b[${code}m${text}\u001b[0m` : text;
  const level = textOf(entry["level"]);
  const data = Object.entries(entry)
    .filter(([name]) => !PLACED.has(name))
    .map(([name, value]) => `${paint(DIM, `${name}=`)}${textOf(value)}`);
  const parts = [
    paint(DIM, textOf(entry["logtime"]).slice(11, 23).replace(",", ".")),
    paint(colourOf(level), level.toUpperCase().padEnd(LEVEL_WIDTH)),
    `${textOf(entry["service_name"])} ${paint(DIM, textOf(entry["logger"]))}`,
    paint(BOLD, textOf(entry["message"])),
    ...data,
  ];
  return parts.join(" ");
}

export function parseEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function colourOf(level: string): number {
  return Object.entries(COLOURS).find(([name]) => name === level)?.[1] ?? DIM;
}

/** Control characters of a value never reach the terminal. */
function textOf(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

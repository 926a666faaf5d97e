/**
 * Arguments of the scripts (`npm run bench`, `sim`, `release` and so on): named options, of which
 * some may also be given by their position. What does not fit ends a script with exit code 2 and
 * its usage line, before it starts anything.
 */
import { parseArgs, type ParseArgsConfig } from "node:util";

type NumberParameter = {
  readonly kind: "number";
  readonly fallback?: number;
  readonly min: number;
  readonly max?: number;
  /** Whole numbers only. */
  readonly isWhole?: boolean;
  readonly isPositional?: boolean;
};
type TextParameter = {
  readonly kind: "text";
  readonly fallback?: string;
  readonly choices?: readonly string[];
  readonly isPositional?: boolean;
};
type FlagParameter = { readonly kind: "flag" };
/** Any number of words, after all other positions. */
type WordsParameter = { readonly kind: "words" };

export type Parameter = NumberParameter | TextParameter | FlagParameter | WordsParameter;
export type Parameters = Readonly<Record<string, Parameter>>;

type Given<P, T> = P extends { readonly fallback: T } ? T : T | undefined;
type ValueOf<P extends Parameter> = P extends NumberParameter
  ? Given<P, number>
  : P extends TextParameter
    ? Given<P, string>
    : P extends FlagParameter
      ? boolean
      : readonly string[];
export type Values<P extends Parameters> = { readonly [K in keyof P]: ValueOf<P[K]> };

const EXIT_USAGE = 2;
/** More than these are listed only when a value is none of them. */
const CHOICES_SHOWN_MAX = 8;

export class UsageError extends Error {}

/** Somebody asked for help: the usage is the result. */
class HelpRequest extends UsageError {}

/** Of a script that is named in package.json, such as `bench` or `sim`. */
export function usageOf(script: string, parameters: Parameters): string {
  const words = Object.entries(parameters).map(([name, parameter]) => {
    if (parameter.kind === "words") return `[${name} ...]`;
    if (parameter.kind === "flag") return `[--${name}]`;
    const choices = (parameter.kind === "text" ? parameter.choices : undefined) ?? [];
    const isListed = choices.length > 0 && choices.length <= CHOICES_SHOWN_MAX;
    const sample = parameter.fallback ?? "";
    const value = isListed ? choices.join("|") : sample === "" ? name.toUpperCase() : sample;
    return `[--${name} ${value}]`;
  });
  const named = `usage: npm run ${[`${script} --`, ...words].join(" ")}`;
  const positions = positional(parameters).map((name) => `[${name}]`);
  return positions.length === 0 ? named : `${named}, or ${script} ${positions.join(" ")}`;
}

/** Throws a UsageError with the usage line. */
export function parseScript<P extends Parameters>(
  script: string,
  parameters: P,
  args: readonly string[],
): Values<P> {
  try {
    return parse(parameters, args) as Values<P>;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const usage = usageOf(script, parameters);
    if (error instanceof HelpRequest) throw new HelpRequest(usage);
    throw new UsageError(`${error.message}\n${usage}`);
  }
}

/** The exit code of a script: 2, with what is wrong on stderr, for wrong arguments. */
export async function exitCodeOf(
  main: (args: readonly string[]) => number | Promise<number>,
): Promise<number> {
  try {
    return await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const isHelp = error instanceof HelpRequest;
    (isHelp ? process.stdout : process.stderr).write(`${error.message}\n`);
    return isHelp ? 0 : EXIT_USAGE;
  }
}

function parse(parameters: Parameters, args: readonly string[]): Record<string, unknown> {
  const { values, positionals } = split(parameters, args);
  if (values["help"] === true) throw new HelpRequest();
  const names = positional(parameters);
  const words = Object.keys(parameters).find((name) => parameters[name]?.kind === "words");
  const extra = positionals.slice(names.length);
  if (words === undefined && extra.length > 0) throw new UsageError(`unexpected "${extra[0]}"`);
  const parsed: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const position = names.indexOf(name);
    const byPosition = position === -1 ? undefined : positionals[position];
    if (byPosition !== undefined && values[name] !== undefined) {
      throw new UsageError(`${name} is given twice: --${name} and "${byPosition}"`);
    }
    parsed[name] = name === words ? extra : checked(name, parameter, byPosition ?? values[name]);
  }
  return parsed;
}

function split(
  parameters: Parameters,
  args: readonly string[],
): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
} {
  const options: NonNullable<ParseArgsConfig["options"]> = {
    help: { type: "boolean", short: "h" },
  };
  for (const [name, { kind }] of Object.entries(parameters)) {
    if (kind !== "words") options[name] = { type: kind === "flag" ? "boolean" : "string" };
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError(text.split(/\. |\n/)[0]);
  }
}

function checked(name: string, parameter: Parameter, given: unknown): unknown {
  if (parameter.kind === "flag") return given === true;
  if (parameter.kind === "words") return [];
  if (typeof given !== "string") return parameter.fallback;
  if (parameter.kind === "number") return checkedNumber(name, parameter, given);
  const { choices } = parameter;
  if (given === "" || (choices !== undefined && !choices.includes(given))) {
    const known = choices === undefined ? "" : `; known: ${choices.join(", ")}`;
    throw new UsageError(`${name}: no such value "${given}"${known}`);
  }
  return given;
}

function checkedNumber(name: string, parameter: NumberParameter, given: string): number {
  const { min, max = Number.MAX_SAFE_INTEGER, isWhole = false } = parameter;
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : NaN;
  const isFit = value >= min && value <= max && (!isWhole || Number.isSafeInteger(value));
  if (isFit) return value;
  const limits = parameter.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  const kind = isWhole ? "whole number" : "number";
  throw new UsageError(`${name} must be a ${kind} ${limits}, not "${given}"`);
}

function positional(parameters: Parameters): string[] {
  return Object.entries(parameters)
    .filter(([, parameter]) => "isPositional" in parameter && parameter.isPositional)
    .map(([name]) => name);
}

/**
 * Defaults < file < environment < flags, in one place. A setting `rpc.bodyBytesMax` is
 * `{"rpc": {"bodyBytesMax": ...}}` in a file, QUORATE_RPC_BODY_BYTES_MAX in the environment and
 * --rpc-body-bytes-max on the command line.
 */
import { err, ok, type Result } from "../base/result.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { isRecord } from "../base/parse-json.ts";
import { parseJsonRecord } from "./json-fields.ts";
import type { Setting, SettingTable, SettingValues } from "./setting.ts";

export type SettingSource = "default" | "file" | "environment" | "flag";

export type SettingInputs = {
  readonly fileText: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By the name of the flag, without dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly resolvePath: (path: string, source: SettingSource) => string;
};

type Found = { readonly raw: unknown; readonly source: SettingSource; readonly path: string };

export function resolveSettings<Table extends SettingTable>(
  table: Table,
  inputs: SettingInputs,
): Result<SettingValues<Table>, readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const inFile = readFile(inputs.fileText, problems);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const found = find(name, inputs, inFile);
    inFile.delete(name);
    values[name] = valueOf(name, setting, found, inputs, problems);
  }
  // Whole sections are left out of the table where a node has no such part.
  for (const path of inFile.keys()) problems.push({ path, message: "is not known" });
  return problems.length > 0 ? err(problems) : ok(values as SettingValues<Table>);
}

export function flagOf(setting: string): string {
  return words(setting).join("-").toLowerCase();
}

export function variableOf(setting: string): string {
  return `QUORATE_${words(setting).join("_").toUpperCase()}`;
}

function valueOf(
  name: string,
  setting: Setting<unknown>,
  found: Found | undefined,
  inputs: SettingInputs,
  problems: ConfigProblem[],
): unknown {
  if (found === undefined) {
    if (setting.fallback !== undefined) return setting.fallback.value;
    const ways = `--${flagOf(name)}, ${variableOf(name)}`;
    problems.push({ path: name, message: `is missing (give it by ${ways} or in the file)` });
    return undefined;
  }
  const parsed = setting.parse(found.raw);
  if (!parsed.ok) {
    problems.push({ path: found.path, message: `must be ${parsed.error}` });
    return undefined;
  }
  const { value } = parsed;
  return setting.isPath ? inputs.resolvePath(String(value), found.source) : value;
}

function find(
  name: string,
  { flags, environment }: SettingInputs,
  inFile: ReadonlyMap<string, unknown>,
): Found | undefined {
  const flag = flags[flagOf(name)];
  if (flag !== undefined) return { raw: flag, source: "flag", path: `--${flagOf(name)}` };
  const variable = environment[variableOf(name)];
  if (variable !== undefined && variable !== "") {
    return { raw: variable, source: "environment", path: variableOf(name) };
  }
  const raw = inFile.get(name);
  return raw === undefined ? undefined : { raw, source: "file", path: name };
}

/** Values by their dotted names. Objects are sections, everything else is a value. */
function readFile(text: string | undefined, problems: ConfigProblem[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  if (text === undefined) return values;
  const parsed = parseJsonRecord(text);
  if (!parsed.ok) problems.push(parsed.error);
  else collect(parsed.value, "", values);
  return values;
}

function collect(
  record: Readonly<Record<string, unknown>>,
  prefix: string,
  values: Map<string, unknown>,
): void {
  for (const [name, value] of Object.entries(record)) {
    if (isRecord(value)) collect(value, `${prefix}${name}.`, values);
    else values.set(prefix + name, value);
  }
}

/** `rpc.bodyBytesMax` is rpc, body, Bytes, Max. */
function words(setting: string): string[] {
  return setting.split(/\.|(?=[A-Z])/);
}

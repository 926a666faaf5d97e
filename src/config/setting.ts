/**
 * One setting of a node: how its value is read, wherever it comes from. A file gives JSON values,
 * the environment and the command line give text; both forms are taken everywhere.
 */
import { err, ok, type Result } from "../base/result.ts";

export type Setting<Value> = {
  /** One line for the help. */
  readonly summary: string;
  /** The error continues the sentence "<setting>: must be ...". */
  readonly parse: (raw: unknown) => Result<Value, string>;
  readonly fallback: { readonly value: Value } | undefined;
  /** Relative to the file that names it, or to where the command runs. */
  readonly isPath: boolean;
  /** False where it can be given by a file or the environment only. */
  readonly hasFlag?: boolean;
};

export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

type Given<Value> = { readonly summary: string; readonly fallback?: Value };

const DECIMAL = /^(0|[1-9][0-9]{0,15})$/;
const WHOLE = /^(0|[1-9][0-9]{0,77})$/;
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$|^[0-9a-fA-F:.]+$/;
export const PORT_MAX = 65_535;
const TEXT_LENGTH_MAX = 4_096;

export function textSetting(given: Given<string>): Setting<string> {
  return createSetting(given, parseText);
}

export function pathSetting(given: Given<string>): Setting<string> {
  return { ...createSetting(given, parseText), isPath: true };
}

export function hostSetting(given: Given<string>): Setting<string> {
  return createSetting(given, (raw) =>
    typeof raw === "string" && HOST.test(raw) ? ok(raw) : err("a host name or an IP address"),
  );
}

export function integerSetting(
  given: Given<number> & { readonly min: number; readonly max: number },
): Setting<number> {
  const { min, max } = given;
  return createSetting(given, (raw) => {
    const value = typeof raw === "string" && DECIMAL.test(raw) ? Number(raw) : raw;
    const isInRange =
      typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
    return isInRange ? ok(value) : err(`a whole number from ${min} to ${max}`);
  });
}

/** A port to listen on; 0 takes a free one. */
export function portSetting(given: Given<number>): Setting<number> {
  return integerSetting({ ...given, min: 0, max: PORT_MAX });
}

export function bigintSetting(given: Given<bigint>): Setting<bigint> {
  return createSetting(given, (raw) => {
    if (typeof raw === "number" && Number.isSafeInteger(raw) && raw >= 0) return ok(BigInt(raw));
    if (typeof raw === "string" && WHOLE.test(raw)) return ok(BigInt(raw));
    return err("a whole number that is not negative");
  });
}

export function booleanSetting(given: Given<boolean>): Setting<boolean> {
  return createSetting(given, (raw) => {
    if (raw === true || raw === "true") return ok(true);
    if (raw === false || raw === "false") return ok(false);
    return err("true or false");
  });
}

export function choiceSetting<const Choice extends string>(
  given: Given<NoInfer<Choice>> & {
    readonly choices: readonly Choice[];
    /** Former names of choices, which files and scripts may still have. */
    readonly aliases?: Readonly<Record<string, NoInfer<Choice>>>;
  },
): Setting<Choice> {
  const aliases = new Map(Object.entries(given.aliases ?? {}));
  return createSetting(given, (raw) => {
    const found =
      given.choices.find((choice) => choice === raw) ??
      (typeof raw === "string" ? aliases.get(raw) : undefined);
    return found === undefined ? err(`one of ${given.choices.join(", ")}`) : ok(found);
  });
}

/** An array in a file, text with commas elsewhere. */
export function listSetting(given: Given<readonly string[]>): Setting<readonly string[]> {
  return createSetting(given, (raw) => {
    const items: readonly unknown[] | undefined =
      typeof raw === "string" ? splitList(raw) : Array.isArray(raw) ? raw : undefined;
    const texts = items?.filter((item) => typeof item === "string" && item !== "");
    if (items === undefined || texts?.length !== items.length) return err("a list of texts");
    return ok(items.map(String));
  });
}

/** A setting that may be left out. */
export function optional<Value>(setting: Setting<Value>): Setting<Value | undefined> {
  return { ...setting, fallback: { value: undefined } };
}

function createSetting<Value>(
  { summary, fallback }: Given<Value>,
  parse: (raw: unknown) => Result<Value, string>,
): Setting<Value> {
  return {
    summary,
    parse,
    fallback: fallback === undefined ? undefined : { value: fallback },
    isPath: false,
  };
}

function parseText(raw: unknown): Result<string, string> {
  const isText = typeof raw === "string" && raw !== "" && raw.length <= TEXT_LENGTH_MAX;
  return isText ? ok(raw) : err(`a text of 1 to ${TEXT_LENGTH_MAX} characters`);
}

function splitList(text: string): readonly string[] {
  return text === "" ? [] : text.split(",").map((item) => item.trim());
}

/** Reads and checks configuration files. One error names every problem. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import { problemText, type ConfigProblem } from "../config/config-problem.ts";
import { parseNetworkFile, type NetworkFile } from "../config/network-file.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import type { SettingTable, SettingValues } from "../config/setting.ts";
import { shownPath } from "./shown-path.ts";
import { isSystemError } from "./node-key.ts";

type Texts = Readonly<Record<string, string | undefined>>;

export function loadNetworkFile(file: string): NetworkFile {
  const parsed = parseNetworkFile(readText(file), Date.now());
  if (!parsed.ok) throw invalid(shownPath(file), parsed.error);
  return parsed.value;
}

/** A node's settings: defaults < file < environment < flags. */
export function loadSettings<Table extends SettingTable>(
  table: Table,
  configFile: string | undefined,
  { environment, flags }: { readonly environment: Texts; readonly flags: Texts },
): SettingValues<Table> {
  const resolved = resolveSettings(table, {
    fileText: configFile === undefined ? undefined : readText(configFile),
    environment,
    flags,
    resolvePath: (text, source) =>
      source === "file" && configFile !== undefined
        ? path.resolve(path.dirname(configFile), text)
        : path.resolve(text),
  });
  if (resolved.ok) return resolved.value;
  const where = configFile === undefined ? "the configuration" : shownPath(configFile);
  throw invalid(where, resolved.error);
}

export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = isSystemError(error, "ENOENT") ? "it is not there" : "it cannot be opened";
    throw new CodedError("CONFIG_UNREADABLE", { path: shownPath(file), reason }, error);
  }
}

function invalid(where: string, problems: readonly ConfigProblem[]): CodedError {
  return new CodedError("CONFIG_INVALID", {
    path: where,
    problems: problems.map(problemText).join("; "),
  });
}

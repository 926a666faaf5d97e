import { flagOf } from "../config/resolve-settings.ts";
import type { SettingTable } from "../config/setting.ts";
import type { OptionSpec } from "./command.ts";

/** Every setting is a flag, too. */
export function settingOptions(table: SettingTable): readonly OptionSpec[] {
  const settings = Object.entries(table).filter(([, { hasFlag }]) => hasFlag !== false);
  return settings.map(([name, { summary, fallback, isPath }]) => {
    const shown = fallbackText(fallback?.value);
    return { name: flagOf(name), value: isPath ? "FILE" : "VALUE", summary: summary + shown };
  });
}

/** In brackets behind the summary. */
function fallbackText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "" : ` (${value.join(",")})`;
  const isShown = ["string", "number", "bigint", "boolean"].includes(typeof value);
  return isShown ? ` (${String(value)})` : "";
}

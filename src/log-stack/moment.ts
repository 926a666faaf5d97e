/** Moments as requests write them: ISO texts, milliseconds since 1970, `now`, `now-15m`, `now/d`. */
import { SearchError } from "./search-error.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  H: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const RELATIVE = /^now((?:[+-]\d{1,6}[smhHdw])*)(?:\/([smhHd]))?$/;

export function parseMoment(value: string | number | boolean, nowMs: number): number {
  if (typeof value === "number") return Math.trunc(value);
  const text = String(value);
  const relative = RELATIVE.exec(text);
  if (relative !== null) {
    const steps = (relative[1] ?? "").match(/[+-]\d+[a-zA-Z]/g) ?? [];
    const shifted = steps.reduce((sumMs, step) => sumMs + stepMs(step), nowMs);
    const unitMs = UNITS_MS[relative[2] ?? ""];
    return unitMs === undefined ? shifted : Math.floor(shifted / unitMs) * unitMs;
  }
  const timeMs = /^-?\d+$/.test(text) ? Number(text) : Date.parse(withZone(text));
  if (Number.isNaN(timeMs)) throw new SearchError(`[${text.slice(0, 64)}] is no moment`);
  return timeMs;
}

export function parseInterval(value: unknown): number {
  const text = typeof value === "string" ? value : "";
  const match = /^(\d{1,9})(ms|[smhd])$/.exec(CALENDAR[text] ?? text);
  const unitMs = match?.[2] === "ms" ? 1 : UNITS_MS[match?.[2] ?? ""];
  const intervalMs = Number(match?.[1] ?? 0) * (unitMs ?? 0);
  if (intervalMs <= 0) throw new SearchError("an interval is a number with ms, s, m, h or d");
  return intervalMs;
}

/** Those of the calendar's intervals that are always of one length. */
const CALENDAR: Readonly<Record<string, string>> = {
  second: "1s",
  minute: "1m",
  hour: "1h",
  day: "1d",
};

function stepMs(step: string): number {
  return Number(step.slice(0, -1)) * (UNITS_MS[step.slice(-1)] ?? 0);
}

/** A time of day without a zone is UTC, as the real store reads it. */
function withZone(text: string): string {
  return /T\d/.test(text) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text;
}

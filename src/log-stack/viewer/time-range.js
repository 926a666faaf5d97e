/** Times as the page and its address write them. */
export const RANGES = [
  ["now-5m", "Last 5 minutes"],
  ["now-15m", "Last 15 minutes"],
  ["now-1h", "Last hour"],
  ["now-6h", "Last 6 hours"],
  ["now-24h", "Last 24 hours"],
  ["now-7d", "Last 7 days"],
  ["now-90d", "Last 90 days"],
];

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Steps that people can read off an axis. */
const STEPS = [
  ...["100ms", "250ms", "500ms", "1s", "2s", "5s", "10s", "15s", "30s", "1m", "2m", "5m", "10m"],
  ...["15m", "30m", "1h", "2h", "3h", "6h", "12h", "1d", "2d", "7d", "14d", "30d"],
];

/** Milliseconds since 1970. What is no time is the fallback. */
export function momentMs(text, nowMs, fallbackMs) {
  if (text === "now") return nowMs;
  const relative = /^now-(\d{1,6})([smhd])$/.exec(text);
  if (relative !== null) return nowMs - Number(relative[1]) * UNITS_MS[relative[2]];
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? fallbackMs : timeMs;
}

export function isRelative(text) {
  return /^now(-\d{1,6}[smhd])?$/.test(text);
}

export function stepMs(step) {
  if (step.endsWith("ms")) return Number(step.slice(0, -2));
  return Number(step.slice(0, -1)) * UNITS_MS[step.slice(-1)];
}

/** The smallest step that gives no more bars than fit. */
export function stepFor(spanMs, barsMax) {
  return STEPS.find((step) => spanMs / stepMs(step) <= barsMax) ?? STEPS.at(-1);
}

const two = (number) => String(number).padStart(2, "0");

export function formatDay(timeMs) {
  const date = new Date(timeMs);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function formatTime(timeMs, withMs) {
  const date = new Date(timeMs);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return withMs ? `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}` : clock;
}

export function formatMoment(timeMs, withMs = false) {
  return `${formatDay(timeMs)} ${formatTime(timeMs, withMs)}`;
}

/** For an input of the kind datetime-local. */
export function localInputText(timeMs) {
  return `${formatDay(timeMs)}T${formatTime(timeMs, false)}`;
}

/**
 * The original log pipeline stated a second time, from its configuration text and what its filters
 * are documented to do. It shares nothing with src/log-stack: date patterns are interpreted
 * here, letter by letter, and filters run in the order in which they stand in the text.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

const VALUES = path.join(import.meta.dirname, "../../deploy/logging/logstash.yaml");

/** The text that the log stack on a cluster is installed with. */
export function originalFilters(): string {
  const values = parse(readFileSync(VALUES, "utf8")) as {
    logstashPipeline: Readonly<Record<string, string>>;
  };
  const text = (values.logstashPipeline["logstash.conf"] ?? "").replace(/#.*$/gm, "");
  return text.slice(text.indexOf("filter"), text.indexOf("output"));
}

type Fields = Record<string, unknown>;
type Filter = { readonly name: string; readonly strings: readonly string[] };

/** The documents that a request of log lines becomes. */
export function restatePipeline(config: string, body: string, nowMs: number): Fields[] {
  let events: Fields[] = [
    { message: body, host: "127.0.0.1", headers: { a: "b" }, "@timestamp": iso(nowMs) },
  ];
  for (const filter of readFilters(config)) {
    events = events.flatMap((event) => applyFilter(filter, event));
  }
  return events;
}

function readFilters(config: string): Filter[] {
  const inner = config.slice(config.indexOf("{") + 1, config.lastIndexOf("}"));
  return [...inner.matchAll(/(\w+)\s*\{([^}]*)\}/g)].map(([, name = "", options = ""]) => ({
    name,
    strings: [...options.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? ""),
  }));
}

function applyFilter({ name, strings }: Filter, event: Fields): Fields[] {
  switch (name) {
    case "split":
      return String(event["message"])
        .split("\n")
        .filter((line) => line.length > 0)
        .map((message) => ({ ...event, message }));
    case "json":
      return [applyJson(strings[0] ?? "", event)];
    case "date":
      return [applyDate(strings, event)];
    case "mutate":
      return [Object.fromEntries(Object.entries(event).filter(([key]) => !strings.includes(key)))];
    default:
      throw new Error(`no such filter: ${name}`);
  }
}

function applyJson(source: string, event: Fields): Fields {
  try {
    const value: unknown = JSON.parse(String(event[source]));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { ...event, ...value };
    }
  } catch {
    // Tagged below, like anything that is no object.
  }
  return tag(event, "_jsonparsefailure");
}

function applyDate([field = "", ...patterns]: readonly string[], event: Fields): Fields {
  const value = event[field];
  if (value === undefined) return event;
  for (const pattern of patterns) {
    const timeMs = typeof value === "string" ? readByPattern(pattern, value) : undefined;
    if (timeMs !== undefined) return { ...event, "@timestamp": iso(timeMs) };
  }
  return tag(event, "_dateparsefailure");
}

/** Letters are fields, text between apostrophes is itself, and the whole text must be used up. */
function readByPattern(pattern: string, text: string): number | undefined {
  const parts = pattern.match(/'[^']*'|([a-zA-Z])\1*|[^a-zA-Z']/g) ?? [];
  const read: Record<string, number> = { y: 1970, M: 1, d: 1, H: 0, m: 0, s: 0, S: 0, Z: 0 };
  let rest = text;
  for (const part of parts) {
    const letter = part[0] ?? "";
    if (!/[a-zA-Z]/.test(letter)) {
      const literal = part.replaceAll("'", "");
      if (!rest.startsWith(literal)) return undefined;
      rest = rest.slice(literal.length);
      continue;
    }
    const found = readField(letter, part.length, rest);
    if (found === undefined) return undefined;
    read[letter] = found.value;
    rest = rest.slice(found.length);
  }
  return rest === "" ? momentOf(read) : undefined;
}

function readField(
  letter: string,
  width: number,
  text: string,
): { readonly value: number; readonly length: number } | undefined {
  if (letter === "Z") {
    const zone = /^([+-])(\d\d)(?::?(\d\d))?/.exec(text);
    if (zone === null || Number(zone[2]) > 23 || Number(zone[3] ?? 0) > 59) return undefined;
    const minutes = Number(zone[2]) * 60 + Number(zone[3] ?? 0);
    return { value: zone[1] === "-" ? -minutes : minutes, length: zone[0].length };
  }
  const digitsMax = letter === "y" ? 9 : width;
  const digits = /^\d+/.exec(text.slice(0, digitsMax))?.[0] ?? "";
  if (digits === "") return undefined;
  const value = letter === "S" ? Number(`0.${digits}`) * 1000 : Number(digits);
  return { value: Math.round(value), length: digits.length };
}

function momentOf(read: Readonly<Record<string, number>>): number | undefined {
  const { y = 0, M = 0, d = 0, H = 0, m = 0, s = 0, S = 0, Z = 0 } = read;
  const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][M - 1] ?? 0;
  if (d < 1 || d > days || H > 23 || m > 59 || s > 59) return undefined;
  const padded = (value: number, width: number): string => String(value).padStart(width, "0");
  const day = `${padded(y, 4)}-${padded(M, 2)}-${padded(d, 2)}`;
  return Date.parse(`${day}T00:00:00Z`) + ((H * 60 + m - Z) * 60 + s) * 1000 + S;
}

function tag(event: Fields, name: string): Fields {
  const tags = Array.isArray(event["tags"]) ? event["tags"].map(String) : [];
  return { ...event, tags: [...tags, name] };
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

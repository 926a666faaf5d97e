/**
 * What happens to a request between the input and the store (SPEC L2), in this order:
 * 1. the codec puts the body into `message` (a JSON body becomes fields, as its type says),
 * 2. split: each line of `message` becomes an event of its own,
 * 3. json: `message` is parsed into fields,
 * 4. date: `logtime` becomes the time of the event,
 * 5. mutate: `host`, `headers` and `logtime` are removed.
 * No event is lost: a step that fails adds a tag, and the event continues.
 */
import { isRecord } from "../base/parse-json.ts";
import { parseJson } from "../base/parse-json.ts";
import { parseLogtime } from "./logtime.ts";

export type InputRequest = {
  readonly body: string;
  readonly contentType: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, unknown>>;
};

/** One entry as the store keeps it. */
export type LogDocument = {
  readonly timeMs: number;
  /** `@timestamp` and `@version` included. */
  readonly fields: Readonly<Record<string, unknown>>;
};

export const DATA_STREAM = "logs-generic-default";

export const LINE_LENGTH_MAX = 256 * 1024;
const FIELDS_MAX = 1_000;
const DEPTH_MAX = 20;

const REMOVED_FIELDS = ["host", "headers", "logtime"];

type LogEvent = { timeMs: number; fields: Record<string, unknown> };

/** Lines that are not empty become one document each. */
export function processRequest(request: InputRequest, nowMs: number): LogDocument[] {
  return decode(request, nowMs)
    .flatMap(split)
    .map((event) => {
      parseMessage(event, nowMs);
      parseTime(event);
      return finish(event);
    });
}

function decode(request: InputRequest, nowMs: number): LogEvent[] {
  const origin = { host: request.host, headers: request.headers };
  const event = (fields: Readonly<Record<string, unknown>>): LogEvent => ({
    timeMs: nowMs,
    fields: { ...fields, ...origin },
  });
  if (!/^application\/json\b/i.test(request.contentType)) return [event({ message: request.body })];
  const value = parseJson(request.body);
  const values = Array.isArray(value) ? value.map((one: unknown) => one) : [value];
  if (values.every(isRecord)) return values.map((one) => event(one));
  const whole = event({ message: request.body });
  addTag(whole, "_jsonparsefailure");
  return [whole];
}

function split(event: LogEvent): LogEvent[] {
  const { message } = event.fields;
  if (typeof message !== "string") {
    addTag(event, "_split_type_failure");
    return [event];
  }
  return message
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const one = { timeMs: event.timeMs, fields: { ...event.fields, message: line } };
      if (line.length > LINE_LENGTH_MAX) {
        one.fields.message = line.slice(0, LINE_LENGTH_MAX);
        addTag(one, "_lengthexceeded");
      }
      return one;
    });
}

function parseMessage(event: LogEvent, nowMs: number): void {
  const { message } = event.fields;
  if (typeof message !== "string") return;
  const parsed = parseJson(message);
  if (!isRecord(parsed)) {
    addTag(event, "_jsonparsefailure");
    return;
  }
  if (!isWithinLimits(parsed)) {
    addTag(event, "_fieldlimitexceeded");
    return;
  }
  const { "@timestamp": ownTime, ...rest } = parsed;
  // A spread defines properties: a field named `__proto__` stays a field.
  event.fields = { ...event.fields, ...rest };
  if (ownTime === undefined) return;
  const timeMs = typeof ownTime === "string" ? Date.parse(ownTime) : Number.NaN;
  event.timeMs = Number.isNaN(timeMs) ? nowMs : timeMs;
  if (!Number.isNaN(timeMs)) return;
  addTag(event, "_timestampparsefailure");
  event.fields["_@timestamp"] = typeof ownTime === "string" ? ownTime : JSON.stringify(ownTime);
}

function parseTime(event: LogEvent): void {
  const { logtime } = event.fields;
  if (logtime === undefined) return;
  const timeMs = typeof logtime === "string" ? parseLogtime(logtime) : undefined;
  if (timeMs === undefined) addTag(event, "_dateparsefailure");
  else event.timeMs = timeMs;
}

function finish(event: LogEvent): LogDocument {
  for (const name of REMOVED_FIELDS) Reflect.deleteProperty(event.fields, name);
  const fields = {
    "@timestamp": new Date(event.timeMs).toISOString(),
    "@version": "1",
    ...event.fields,
    data_stream: { type: "logs", dataset: "generic", namespace: "default" },
  };
  return { timeMs: event.timeMs, fields };
}

function addTag(event: LogEvent, tag: string): void {
  const { tags } = event.fields;
  const before: readonly unknown[] = Array.isArray(tags) ? tags : tags === undefined ? [] : [tags];
  event.fields["tags"] = [...before, tag];
}

/** Deeper or wider values would make every later step slower. */
function isWithinLimits(root: Readonly<Record<string, unknown>>): boolean {
  let fieldCount = 0;
  const isFine = (value: unknown, depth: number): boolean => {
    if (typeof value !== "object" || value === null) return ++fieldCount <= FIELDS_MAX;
    if (depth === DEPTH_MAX) return false;
    return Object.values(value).every((one) => isFine(one, depth + 1));
  };
  return isFine(root, 0);
}

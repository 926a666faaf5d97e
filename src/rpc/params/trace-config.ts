/** The last parameter of the debug_trace methods. */
import type { TraceOptions } from "../../api/trace-options.ts";
import type { MethodContext } from "../method.ts";
import {
  assertKnownFields,
  invalidParameter,
  isAbsent,
  type JsonObject,
  parseBoolean,
  parseObject,
  type Place,
} from "./parameters.ts";

const TRACER_NAMES = ["callTracer", "prestateTracer", "4byteTracer", "noopTracer"] as const;

const FIELDS: ReadonlySet<string> = new Set([
  ...["tracer", "tracerConfig", "timeout", "reexec", "disableStorage", "disableStack"],
  ...["enableMemory", "disableMemory", "enableReturnData", "disableReturnData", "limit", "debug"],
  // Of debug_traceCall alone, which reads them itself.
  ...["stateOverrides", "blockOverrides"],
]);

export function parseTraceConfig(
  value: unknown,
  place: Place,
  { dialect }: MethodContext,
): TraceOptions {
  const config = isAbsent(value) ? {} : parseObject(value, place);
  assertKnownFields(config, place, FIELDS, dialect);
  const { tracer, tracerConfig, timeout } = config;
  // The node has a limit of its own.
  if (!isAbsent(timeout) && typeof timeout !== "string") {
    throw invalidParameter(`${place}.timeout`, 'a time such as "5s"', timeout);
  }
  const inner = isAbsent(tracerConfig) ? {} : parseObject(tracerConfig, `${place}.tracerConfig`);
  const flag = (object: JsonObject, name: string): boolean =>
    isAbsent(object[name]) ? false : parseBoolean(object[name], `${place}.${name}`);
  // An empty name means the default to some clients.
  if (isAbsent(tracer) || tracer === "" || tracer === "structLogger") {
    return {
      tracer: "structLogger",
      hasStack: !flag(config, "disableStack"),
      hasMemory: flag(config, "enableMemory"),
      hasStorage: !flag(config, "disableStorage"),
      hasReturnData: flag(config, "enableReturnData"),
      stepsMax: parseLimit(config["limit"], `${place}.limit`),
    };
  }
  const name = TRACER_NAMES.find((known) => known === tracer);
  switch (name) {
    case "callTracer":
      return {
        tracer: name,
        isTopOnly: flag(inner, "onlyTopCall"),
        hasLogs: flag(inner, "withLog"),
      };
    case "prestateTracer":
      return {
        tracer: name,
        isDiff: flag(inner, "diffMode"),
        hasCode: !flag(inner, "disableCode"),
        hasStorage: !flag(inner, "disableStorage"),
        hasEmpty: flag(inner, "includeEmpty"),
      };
    case "4byteTracer":
    case "noopTracer":
      return { tracer: name };
    case undefined:
      throw invalidParameter(`${place}.tracer`, `one of ${TRACER_NAMES.join(", ")}`, tracer);
  }
}

function parseLimit(value: unknown, place: Place): number {
  if (isAbsent(value)) return 0;
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!isCount) throw invalidParameter(place, "a number of steps", value);
  return value;
}

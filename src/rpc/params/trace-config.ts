/** The last parameter of the debug_trace methods. */
import type { MuxTracerOptions, TraceOptions } from "../../api/trace-options.ts";
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

const TRACER_NAMES = [
  ...(["callTracer", "flatCallTracer", "prestateTracer", "4byteTracer", "muxTracer"] as const),
  "noopTracer",
] as const;

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
  // An empty name means the default to some clients.
  if (isAbsent(tracer) || tracer === "" || tracer === "structLogger") {
    return {
      tracer: "structLogger",
      hasStack: !flag(config, "disableStack", place),
      hasMemory: flag(config, "enableMemory", place),
      hasStorage: !flag(config, "disableStorage", place),
      hasReturnData: flag(config, "enableReturnData", place),
      stepsMax: parseLimit(config["limit"], `${place}.limit`),
    };
  }
  const name = TRACER_NAMES.find((known) => known === tracer);
  if (name === undefined) {
    throw invalidParameter(`${place}.tracer`, `one of ${TRACER_NAMES.join(", ")}`, tracer);
  }
  const innerPlace = `${place}.tracerConfig`;
  return name === "muxTracer"
    ? { tracer: name, tracers: parseMuxed(tracerConfig, innerPlace) }
    : parseTracer(name, tracerConfig, innerPlace);
}

type SingleTracer = Exclude<(typeof TRACER_NAMES)[number], "muxTracer">;

function parseTracer(
  name: SingleTracer,
  value: unknown,
  place: Place,
): Exclude<TraceOptions, MuxTracerOptions> {
  const config = isAbsent(value) ? {} : parseObject(value, place);
  const has = (field: string): boolean => flag(config, field, place);
  switch (name) {
    case "callTracer":
      return { tracer: name, isTopOnly: has("onlyTopCall"), hasLogs: has("withLog") };
    case "flatCallTracer":
      return {
        tracer: name,
        hasParityErrors: has("convertParityErrors"),
        hasPrecompiles: has("includePrecompiles"),
        hasIntrinsicGas: true,
      };
    case "prestateTracer":
      return {
        tracer: name,
        isDiff: has("diffMode"),
        hasCode: !has("disableCode"),
        hasStorage: !has("disableStorage"),
        hasEmpty: has("includeEmpty"),
      };
    case "4byteTracer":
    case "noopTracer":
      return { tracer: name };
  }
}

/** Names of tracers with their options. A name occurs once: an object has no field twice. */
function parseMuxed(value: unknown, place: Place): MuxTracerOptions["tracers"] {
  return Object.entries(parseObject(value, place)).map(([name, config]) => {
    const known = TRACER_NAMES.find((one) => one === name);
    if (known === undefined || known === "muxTracer") {
      throw invalidParameter(place, `tracers out of ${TRACER_NAMES.join(", ")} by name`, name);
    }
    return parseTracer(known, config, `${place}.${known}`);
  });
}

function flag(object: JsonObject, name: string, place: Place): boolean {
  return isAbsent(object[name]) ? false : parseBoolean(object[name], `${place}.${name}`);
}

function parseLimit(value: unknown, place: Place): number {
  if (isAbsent(value)) return 0;
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!isCount) throw invalidParameter(place, "a number of steps", value);
  return value;
}

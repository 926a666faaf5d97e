/** What a trace records of an execution. The names are those of other clients. */
export type TraceOptions =
  | StructLoggerOptions
  | CallTracerOptions
  | PrestateTracerOptions
  | { readonly tracer: "4byteTracer" }
  | { readonly tracer: "noopTracer" };

/** Every step. */
export type StructLoggerOptions = {
  readonly tracer: "structLogger";
  readonly hasStack: boolean;
  readonly hasMemory: boolean;
  readonly hasStorage: boolean;
  readonly hasReturnData: boolean;
  /** Steps at most; 0 for as many as there are. */
  readonly stepsMax: number;
};

/** The calls, one inside the other. */
export type CallTracerOptions = {
  readonly tracer: "callTracer";
  readonly isTopOnly: boolean;
  readonly hasLogs: boolean;
};

/** The accounts and slots that were touched, as they were before. */
export type PrestateTracerOptions = {
  readonly tracer: "prestateTracer";
  /** Only what changed, before and after. */
  readonly isDiff: boolean;
  readonly hasCode: boolean;
  readonly hasStorage: boolean;
  readonly hasEmpty: boolean;
};

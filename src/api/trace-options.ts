/** What a trace records of an execution. The names are those of other clients. */
export type TraceOptions =
  | StructLoggerOptions
  | CallTracerOptions
  | PrestateTracerOptions
  | FlatCallTracerOptions
  | ReplayTracerOptions
  | MuxTracerOptions
  | { readonly tracer: "otterscanCalls" }
  | { readonly tracer: "otterscanOperations" }
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

/** The calls as a list in the format of OpenEthereum. */
export type FlatCallTracerOptions = {
  readonly tracer: "flatCallTracer";
  /** Errors in the words of OpenEthereum instead of go-ethereum's. */
  readonly hasParityErrors: boolean;
  readonly hasPrecompiles: boolean;
  /** The gas of the outermost call is that of the transaction. */
  readonly hasIntrinsicGas: boolean;
  /** Undefined: all calls. */
  readonly filter?: FlatCallFilter | undefined;
};

/** No address means any. */
export type FlatCallFilter = {
  readonly from: readonly bigint[];
  readonly to: readonly bigint[];
};

/** What trace_call and trace_replay* answer. */
export type ReplayTracerOptions = {
  readonly tracer: "replayTracer";
  readonly hasTrace: boolean;
  readonly hasStateDiff: boolean;
};

/** Several tracers in one run, by their names. */
export type MuxTracerOptions = {
  readonly tracer: "muxTracer";
  readonly tracers: readonly Exclude<TraceOptions, MuxTracerOptions>[];
};

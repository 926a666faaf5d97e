import type { ReplayTracerOptions } from "../../../api/trace-options.ts";
import type { TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { parseTraceTypes } from "../parity-trace.ts";
import { traceOne } from "../traceable-block.ts";

type Params = { readonly hash: Uint8Array; readonly options: ReplayTracerOptions };

export const traceReplayTransaction: Method<TransactionFinder & TraceReader, Params> = {
  name: "trace_replayTransaction",
  paramsMax: 2,
  parse: ([hash, types]) => ({ hash: parseHash(hash, 0), options: parseTraceTypes(types, 1) }),
  handle: async (chain, { hash, options }, { caller }) =>
    new JsonText(await traceOne(chain, hash, options, caller)),
};

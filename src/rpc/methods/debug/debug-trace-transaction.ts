import type { TraceOptions } from "../../../api/trace-options.ts";
import type { TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";
import { traceOne } from "../traceable-block.ts";

type Params = { readonly hash: Uint8Array; readonly options: TraceOptions };

export const debugTraceTransaction: Method<TransactionFinder & TraceReader, Params> = {
  name: "debug_traceTransaction",
  paramsMax: 2,
  parse: ([hash, config], context) => ({
    hash: parseHash(hash, 0),
    options: parseTraceConfig(config, 1, context),
  }),
  handle: async (chain, { hash, options }, { caller }) =>
    new JsonText(await traceOne(chain, hash, options, caller)),
};

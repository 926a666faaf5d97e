import type { TraceOptions } from "../../../api/trace-options.ts";
import type { TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { callFailureToError } from "../../format/failure-error.ts";
import { RpcError, SERVER_ERROR } from "../../rpc-error.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";
import { assertTraceable } from "../traceable-block.ts";

type Params = { readonly hash: Uint8Array; readonly options: TraceOptions };

export const debugTraceTransaction: Method<TransactionFinder & TraceReader, Params> = {
  name: "debug_traceTransaction",
  paramsMax: 2,
  parse: ([hash, config], context) => ({
    hash: parseHash(hash, 0),
    options: parseTraceConfig(config, 1, context),
  }),
  async handle(chain, { hash, options }, { caller }) {
    const found = await chain.findTransaction(hash);
    if (found === undefined) {
      throw new RpcError(SERVER_ERROR, "transaction not found");
    }
    const { block, index } = found;
    assertTraceable(block);
    const places = { first: index, last: index };
    const traced = await chain.traceTransactions(block, places, options, caller);
    if (!traced.ok) throw callFailureToError(traced.error);
    return new JsonText(traced.value[0] ?? "null");
  },
};

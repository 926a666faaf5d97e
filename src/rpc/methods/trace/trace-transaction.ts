import type { TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import { callFailureToError } from "../../format/failure-error.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { PARITY_CALLS } from "../parity-trace.ts";
import { assertTraceable } from "../traceable-block.ts";

/** Null for a transaction that is not final, as OpenEthereum answers. */
export const traceTransactionParity: Method<TransactionFinder & TraceReader, Uint8Array> = {
  name: "trace_transaction",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash, { caller }) {
    const found = await chain.findTransaction(hash);
    if (found === undefined) return null;
    const { block, index } = found;
    assertTraceable(block);
    const places = { first: index, last: index };
    const traced = await chain.traceTransactions(block, places, PARITY_CALLS, caller);
    if (!traced.ok) throw callFailureToError(traced.error);
    return new JsonText(traced.value[0] ?? "[]");
  },
};

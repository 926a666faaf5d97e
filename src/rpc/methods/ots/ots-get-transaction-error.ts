import type { ReceiptsReader, TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { traceOne } from "../traceable-block.ts";

/** What a failed transaction returned; bare 0x for one that did not fail or is unknown. */
export const otsGetTransactionError: Method<
  TransactionFinder & ReceiptsReader & TraceReader,
  Uint8Array
> = {
  name: "ots_getTransactionError",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  async handle(chain, hash, { caller }) {
    const found = await chain.findTransaction(hash);
    if (found === undefined) return "0x";
    const receipts = await chain.receiptsOf(found.block);
    if (receipts?.[found.index]?.succeeded !== false) return "0x";
    const options = { tracer: "replayTracer", hasTrace: false, hasStateDiff: false } as const;
    const replayed: unknown = JSON.parse(await traceOne(chain, hash, options, caller));
    const hasOutput = typeof replayed === "object" && replayed !== null && "output" in replayed;
    return hasOutput ? replayed.output : "0x";
  },
};

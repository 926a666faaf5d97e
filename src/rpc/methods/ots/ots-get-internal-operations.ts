import type { TraceReader, TransactionFinder } from "../../../api/chain-reader.ts";
import { JsonText } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { traceOne } from "../traceable-block.ts";

export const otsGetInternalOperations: Method<TransactionFinder & TraceReader, Uint8Array> = {
  name: "ots_getInternalOperations",
  paramsMax: 1,
  parse: ([hash]) => parseHash(hash, 0),
  handle: async (chain, hash, { caller }) =>
    new JsonText(await traceOne(chain, hash, { tracer: "otterscanOperations" }, caller)),
};

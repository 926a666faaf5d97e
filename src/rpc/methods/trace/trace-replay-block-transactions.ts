import type { ReplayTracerOptions } from "../../../api/trace-options.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import { callFailureToError } from "../../format/failure-error.ts";
import { jsonList } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import {
  BLOCK_NOT_FOUND,
  parseBlockTag,
  requireBlock,
  type BlockTag,
} from "../../params/block-tag.ts";
import { requireParameter } from "../../params/parameters.ts";
import { parseTraceTypes } from "../parity-trace.ts";
import { assertTraceable } from "../traceable-block.ts";

type Params = { readonly block: BlockTag; readonly options: ReplayTracerOptions };

export const traceReplayBlockTransactions: Method<BlockReader & TraceReader, Params> = {
  name: "trace_replayBlockTransactions",
  paramsMax: 2,
  parse: ([block, types], { dialect }) => ({
    block: parseBlockTag(requireParameter(block, 0), 0, dialect),
    options: parseTraceTypes(types, 1),
  }),
  async handle(chain, { block: tag, options }, { caller }) {
    const block = await requireBlock(chain, tag, BLOCK_NOT_FOUND);
    assertTraceable(block);
    const places = { first: 0, last: block.transactionHashes.length - 1 };
    const traced = await chain.traceTransactions(block, places, options, caller);
    if (!traced.ok) throw callFailureToError(traced.error);
    return jsonList(traced.value);
  },
};

import type { TraceOptions } from "../../../api/trace-options.ts";
import {
  BLOCK_NOT_FOUND,
  parseBlockNumber,
  requireBlock,
  type BlockTag,
} from "../../params/block-tag.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";
import { traceBlock } from "../traceable-block.ts";

type Params = { readonly block: BlockTag; readonly options: TraceOptions };

export const debugTraceBlockByNumber: Method<BlockReader & TraceReader, Params> = {
  name: "debug_traceBlockByNumber",
  paramsMax: 2,
  parse: ([block, config], context) => ({
    block: parseBlockNumber(block, 0, context.dialect),
    options: parseTraceConfig(config, 1, context),
  }),
  handle: async (chain, { block, options }, { caller }) =>
    traceBlock(chain, await requireBlock(chain, block, BLOCK_NOT_FOUND), options, caller),
};

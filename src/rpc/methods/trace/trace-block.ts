import {
  BLOCK_NOT_FOUND,
  parseBlockTag,
  requireBlock,
  type BlockTag,
} from "../../params/block-tag.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import { jsonList } from "../../json-text.ts";
import type { Method } from "../../method.ts";
import { requireParameter } from "../../params/parameters.ts";
import { PARITY_CALLS, traceBlockCalls } from "../parity-trace.ts";

/** There are no rewards in it: blocks of this chain have none. */
export const traceBlockParity: Method<BlockReader & TraceReader, BlockTag> = {
  name: "trace_block",
  paramsMax: 1,
  parse: ([block], { dialect }) => parseBlockTag(requireParameter(block, 0), 0, dialect),
  async handle(chain, tag, { caller }) {
    const block = await requireBlock(chain, tag, BLOCK_NOT_FOUND);
    return jsonList(await traceBlockCalls(chain, block, PARITY_CALLS, caller));
  },
};

import { decodeBlock } from "../../../chain/block.ts";
import { headerHash } from "../../../chain/header.ts";
import type { TraceOptions } from "../../../api/trace-options.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { BLOCK_NOT_FOUND, requireBlock } from "../../params/block-tag.ts";
import { invalidParameter, parseData } from "../../params/parameters.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";
import { traceBlock } from "../traceable-block.ts";

type Params = { readonly hash: Uint8Array; readonly options: TraceOptions };

/** A block as RLP. It must be one of this chain: a block that no replica agreed to is not run. */
export const debugTraceBlock: Method<BlockReader & TraceReader, Params> = {
  name: "debug_traceBlock",
  paramsMax: 2,
  parse: ([encoded, config], context) => {
    const block = decodeBlock(parseData(encoded, 0));
    if (!block.ok) throw invalidParameter(0, "a block as RLP", encoded);
    return { hash: headerHash(block.value.header), options: parseTraceConfig(config, 1, context) };
  },
  async handle(chain, { hash, options }, { caller }) {
    const block = await requireBlock(chain, { kind: "hash", hash }, BLOCK_NOT_FOUND);
    return traceBlock(chain, block, options, caller);
  },
};

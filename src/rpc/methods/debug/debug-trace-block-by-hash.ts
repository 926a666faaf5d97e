import type { TraceOptions } from "../../../api/trace-options.ts";
import { BLOCK_NOT_FOUND, requireBlock } from "../../params/block-tag.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { parseHash } from "../../params/parameters.ts";
import { parseTraceConfig } from "../../params/trace-config.ts";
import { traceBlock } from "../traceable-block.ts";

type Params = { readonly hash: Uint8Array; readonly options: TraceOptions };

export const debugTraceBlockByHash: Method<BlockReader & TraceReader, Params> = {
  name: "debug_traceBlockByHash",
  paramsMax: 2,
  parse: ([hash, config], context) => ({
    hash: parseHash(hash, 0),
    options: parseTraceConfig(config, 1, context),
  }),
  async handle(chain, { hash, options }, { caller }) {
    const block = await requireBlock(chain, { kind: "hash", hash }, BLOCK_NOT_FOUND);
    return traceBlock(chain, block, options, caller);
  },
};

import type { FlatCallTracerOptions } from "../../../api/trace-options.ts";
import type { BlockReader, TraceReader } from "../../../api/chain-reader.ts";
import { jsonList } from "../../json-text.ts";
import type { Method, MethodContext } from "../../method.ts";
import {
  BLOCK_NOT_FOUND,
  LATEST,
  parseBlockNumber,
  requireBlock,
  type BlockTag,
} from "../../params/block-tag.ts";
import {
  assertKnownFields,
  invalidParameter,
  isAbsent,
  parseAddressParameter,
  parseArray,
  parseObject,
  type Place,
} from "../../params/parameters.ts";
import type { RpcLimits } from "../../rpc-options.ts";
import { INVALID_PARAMS, LIMIT_EXCEEDED, RESPONSE_TOO_LARGE, RpcError } from "../../rpc-error.ts";
import { PARITY_CALLS, traceBlockCalls } from "../parity-trace.ts";

type Params = {
  readonly from: BlockTag;
  readonly to: BlockTag;
  readonly options: FlatCallTracerOptions;
  /** How many that fit are left out first, and how many are given at most. */
  readonly after: number;
  readonly count: number | undefined;
};

const FIELDS: ReadonlySet<string> = new Set([
  ...["fromBlock", "toBlock", "fromAddress", "toAddress", "after", "count"],
]);

/** Runs every block of the range once more, one after the other, in the threads for reads. */
export const traceFilter: Method<BlockReader & TraceReader, Params> = {
  name: "trace_filter",
  paramsMax: 1,
  parse: ([filter], context) => parseFilter(filter, context),
  async handle(chain, params, { limits, caller }) {
    const { first, last } = await rangeOf(chain, params, limits);
    const found = new FoundTraces(params, limits);
    const endMs = performance.now() + limits.traceFilterMs;
    for (let number = first; number <= last && !found.isFull; number++) {
      if (performance.now() > endMs) throw tooMuch("takes too long");
      const block = await requireBlock(chain, { kind: "number", number }, BLOCK_NOT_FOUND);
      found.add(await traceBlockCalls(chain, block, params.options, caller));
    }
    return jsonList(found.texts);
  },
};

class FoundTraces {
  readonly texts: string[] = [];
  readonly #limits: RpcLimits;
  readonly #count: number | undefined;
  #skip: number;
  #length = 0;

  constructor({ after, count }: Params, limits: RpcLimits) {
    this.#skip = after;
    this.#count = count;
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#count !== undefined && this.texts.length >= this.#count;
  }

  add(traces: readonly string[]): void {
    const skipped = Math.min(this.#skip, traces.length);
    this.#skip -= skipped;
    for (const text of traces.slice(skipped)) {
      if (this.isFull) return;
      this.#length += text.length;
      if (this.#length > this.#limits.responseLengthMax) {
        throw new RpcError(RESPONSE_TOO_LARGE, "response too large; ask with after and count");
      }
      if (this.texts.length >= this.#limits.traceResultsMax) throw tooMuch("has too many results");
      this.texts.push(text);
    }
  }
}

async function rangeOf(
  chain: BlockReader,
  { from, to }: Params,
  { traceBlocksMax }: RpcLimits,
): Promise<{ readonly first: bigint; readonly last: bigint }> {
  const { header: first } = await requireBlock(chain, from, BLOCK_NOT_FOUND);
  const { header: last } = await requireBlock(chain, to, BLOCK_NOT_FOUND);
  if (last.number < first.number) {
    throw new RpcError(INVALID_PARAMS, "invalid parameter 0: toBlock is before fromBlock");
  }
  if (last.number - first.number >= BigInt(traceBlocksMax)) {
    throw tooMuch(`has more than ${traceBlocksMax} blocks`);
  }
  return { first: first.number, last: last.number };
}

function tooMuch(what: string): RpcError {
  return new RpcError(LIMIT_EXCEEDED, `the range ${what}; ask for fewer blocks at a time`);
}

function parseFilter(value: unknown, { dialect, limits }: MethodContext): Params {
  const fields = parseObject(value, 0);
  assertKnownFields(fields, 0, FIELDS, dialect);
  const { fromBlock, toBlock, fromAddress, toAddress, after, count } = fields;
  const block = (given: unknown, place: Place): BlockTag =>
    isAbsent(given) ? LATEST : parseBlockNumber(given, place, dialect);
  const addresses = (given: unknown, place: Place): readonly bigint[] =>
    isAbsent(given)
      ? []
      : parseArray(given, place, limits.filterAlternativesMax).map((one, index) =>
          parseAddressParameter(one, `${place}.${index}`),
        );
  return {
    from: block(fromBlock, "0.fromBlock"),
    to: block(toBlock, "0.toBlock"),
    options: {
      ...PARITY_CALLS,
      filter: {
        from: addresses(fromAddress, "0.fromAddress"),
        to: addresses(toAddress, "0.toAddress"),
      },
    },
    after: isAbsent(after) ? 0 : parseCount(after, "0.after"),
    count: isAbsent(count) ? undefined : parseCount(count, "0.count"),
  };
}

function parseCount(value: unknown, place: Place): number {
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!isCount) throw invalidParameter(place, "a number of traces", value);
  return value;
}

/** Which logs a caller wants: blocks, contracts, topics by place. */
import { addressBits, mayHave, topicBits, type BloomBits, type Log } from "../../chain/bloom.ts";
import { LATEST, parseBlockNumber, type BlockTag } from "../params/block-tag.ts";
import type { MethodContext } from "../method.ts";
import {
  assertKnownFields,
  isAbsent,
  type JsonObject,
  parseAddressParameter,
  parseArray,
  parseHash,
  parseObject,
  parseWord,
  type Place,
} from "../params/parameters.ts";
import { INVALID_PARAMS, RpcError } from "../rpc-error.ts";

export type LogFilter = LogCriteria & {
  readonly blocks:
    | { readonly kind: "hash"; readonly hash: Uint8Array }
    | { readonly kind: "range"; readonly from: BlockTag; readonly to: BlockTag };
};

export type LogCriteria = {
  /** Undefined admits any. */
  readonly addresses: ReadonlySet<bigint> | undefined;
  /** By place; undefined admits any topic, but there must be one. */
  readonly topics: readonly (ReadonlySet<bigint> | undefined)[];
};

const FIELDS: ReadonlySet<string> = new Set([
  "fromBlock",
  "toBlock",
  "blockHash",
  "address",
  "topics",
]);
const TOPIC_PLACES_MAX = 4;

export function parseLogFilter(value: unknown, place: Place, context: MethodContext): LogFilter {
  const { dialect } = context;
  const fields = parseObject(value, place);
  assertKnownFields(fields, place, FIELDS, dialect);
  const { fromBlock, toBlock, blockHash } = fields;
  const criteria = readCriteria(fields, place, context);
  if (!isAbsent(blockHash)) {
    if (!isAbsent(fromBlock) || !isAbsent(toBlock)) {
      const message = "give blockHash, or fromBlock and toBlock, not both";
      throw new RpcError(INVALID_PARAMS, `invalid parameter ${place}: ${message}`);
    }
    const hash = parseHash(blockHash, `${place}.blockHash`);
    return { ...criteria, blocks: { kind: "hash", hash } };
  }
  const tag = (given: unknown, name: string): BlockTag =>
    isAbsent(given) ? LATEST : parseBlockNumber(given, `${place}.${name}`, dialect);
  const from = tag(fromBlock, "fromBlock");
  return { ...criteria, blocks: { kind: "range", from, to: tag(toBlock, "toBlock") } };
}

/** Contracts and topics alone: what is subscribed to begins with the next block. */
export function parseLogCriteria(
  value: unknown,
  place: Place,
  context: MethodContext,
): LogCriteria {
  const fields = isAbsent(value) ? {} : parseObject(value, place);
  // Libraries add a range, which says nothing here.
  assertKnownFields(fields, place, FIELDS, context.dialect);
  return readCriteria(fields, place, context);
}

export function matchesLog({ addresses, topics }: LogCriteria, log: Log): boolean {
  if (addresses !== undefined && !addresses.has(log.address)) return false;
  return topics.every((wanted, place) => {
    const topic = log.topics[place];
    return topic !== undefined && (wanted === undefined || wanted.has(topic));
  });
}

/** Says of a bloom: false, no log behind it matches. To be asked of many: the hashing is done. */
export function createBloomCheck({
  addresses,
  topics,
}: LogCriteria): (bloom: Uint8Array) => boolean {
  const places = topics.map((wanted) => bitsOfAll(wanted, topicBits));
  // One of each of these must be there.
  const wanted = [bitsOfAll(addresses, addressBits), ...places].filter((one) => one !== undefined);
  return (bloom) => wanted.every((bits) => bits.some((one) => mayHave(bloom, one)));
}

function bitsOfAll(
  values: ReadonlySet<bigint> | undefined,
  toBits: (value: bigint) => BloomBits,
): readonly BloomBits[] | undefined {
  return values === undefined ? undefined : Array.from(values, toBits);
}

function readCriteria(fields: JsonObject, place: Place, { limits }: MethodContext): LogCriteria {
  const { filterAlternativesMax } = limits;
  return {
    addresses: parseAddresses(fields["address"], `${place}.address`, filterAlternativesMax),
    topics: parseTopics(fields["topics"], `${place}.topics`, filterAlternativesMax),
  };
}

/** An empty list admits any, as no list does. */
function parseAddresses(
  value: unknown,
  place: Place,
  lengthMax: number,
): ReadonlySet<bigint> | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return new Set([parseAddressParameter(value, place)]);
  const entries = parseArray(value, place, lengthMax);
  if (entries.length === 0) return undefined;
  return new Set(entries.map((entry, index) => parseAddressParameter(entry, `${place}.${index}`)));
}

function parseTopics(
  value: unknown,
  place: Place,
  lengthMax: number,
): readonly (ReadonlySet<bigint> | undefined)[] {
  if (isAbsent(value)) return [];
  return parseArray(value, place, TOPIC_PLACES_MAX).map((wanted, index) => {
    const wantedPlace = `${place}.${index}`;
    if (isAbsent(wanted)) return undefined;
    if (!Array.isArray(wanted)) return new Set([parseWord(wanted, wantedPlace)]);
    const alternatives = parseArray(wanted, wantedPlace, lengthMax);
    // An absent one among the alternatives admits any topic, and so does a list of none.
    if (alternatives.length === 0 || alternatives.some(isAbsent)) return undefined;
    return new Set(alternatives.map((topic, at) => parseWord(topic, `${wantedPlace}.${at}`)));
  });
}

/** Addresses and topics: what criteria take in memory, and time at each log. */
export function criteriaValueCount({ addresses, topics }: LogCriteria): number {
  return topics.reduce((sum, wanted) => sum + (wanted?.size ?? 0), addresses?.size ?? 0);
}

/** Which block a caller means: by number, by name, or by an object of EIP-1898. */
import { bytesToHex } from "../../base/hex.ts";
import { type Awaitable, whenThere } from "../../api/awaitable.ts";
import type { BlockReader, BlockRecord, StateAt, StateAtReader } from "../../api/chain-reader.ts";
import type { Dialect } from "../method.ts";
import {
  assertKnownFields,
  invalidParameter,
  isAbsent,
  isObject,
  parseBoolean,
  parseHash,
  parseQuantity,
  type Place,
} from "./parameters.ts";
import { HISTORY_PRUNED, RpcError, SERVER_ERROR } from "../rpc-error.ts";

export type BlockTag =
  | { readonly kind: "name"; readonly name: BlockName }
  | { readonly kind: "number"; readonly number: bigint }
  | { readonly kind: "hash"; readonly hash: Uint8Array };

export type BlockName = (typeof BLOCK_NAMES)[number];

const BLOCK_NAMES = ["latest", "earliest", "pending", "safe", "finalized"] as const;
const OBJECT_FIELDS: ReadonlySet<string> = new Set([
  "blockNumber",
  "blockHash",
  "requireCanonical",
]);
const NUMBER_BITS = 64;

export const LATEST: BlockTag = { kind: "name", name: "latest" };

/** A number or a name. */
export function parseBlockNumber(value: unknown, place: Place, dialect: Dialect): BlockTag {
  const name = BLOCK_NAMES.find((known) => known === value);
  if (name !== undefined) return { kind: "name", name };
  if (typeof value !== "string" || !value.startsWith("0x")) {
    throw invalidParameter(
      place,
      `a 0x-hex block number or one of ${BLOCK_NAMES.join(", ")}`,
      value,
    );
  }
  return { kind: "number", number: parseQuantity(value, place, dialect, NUMBER_BITS) };
}

/** A number, a name, a hash, or an object of EIP-1898; latest if absent. */
export function parseBlockTag(value: unknown, place: Place, dialect: Dialect): BlockTag {
  if (isAbsent(value)) return LATEST;
  if (typeof value === "string" && value.length === 66) {
    return { kind: "hash", hash: parseHash(value, place) };
  }
  if (!isObject(value)) return parseBlockNumber(value, place, dialect);
  assertKnownFields(value, place, OBJECT_FIELDS, dialect);
  const { blockNumber, blockHash, requireCanonical } = value;
  // Every block of this chain is canonical: the flag is checked and changes nothing.
  if (!isAbsent(requireCanonical)) parseBoolean(requireCanonical, `${place}.requireCanonical`);
  if (isAbsent(blockHash) === isAbsent(blockNumber)) {
    throw invalidParameter(place, "either blockHash or blockNumber", value);
  }
  return isAbsent(blockHash)
    ? parseBlockNumber(blockNumber, `${place}.blockNumber`, dialect)
    : { kind: "hash", hash: parseHash(blockHash, `${place}.blockHash`) };
}

export function findBlock(reader: BlockReader, tag: BlockTag): Awaitable<BlockRecord | undefined> {
  switch (tag.kind) {
    case "number":
      return reader.blockByNumber(tag.number);
    case "hash":
      return reader.blockByHash(tag.hash);
    case "name":
      // What is executed is final (SPEC E12): all names but one are the same block.
      return tag.name === "earliest" ? reader.blockByNumber(0n) : reader.latestBlock();
  }
}

/** The errors for unknown blocks: they begin as geth's do, because clients parse them. */
export type MissingBlockText = (block: string) => string;

const HEADER_NOT_FOUND: MissingBlockText = (block) => `header not found: block ${block}`;
/** Of traces. */
export const BLOCK_NOT_FOUND: MissingBlockText = (block) => `block ${block} not found`;
/** Of logs by hash. */
export const UNKNOWN_BLOCK: MissingBlockText = (block) => `unknown block: ${block}`;
/** Of the history of fees. */
export const BEYOND_HEAD: MissingBlockText = (block) =>
  `request beyond head block: requested ${block}`;

/** For methods to which an unknown block is an error. */
export function requireBlock(
  reader: BlockReader,
  tag: BlockTag,
  missing: MissingBlockText = HEADER_NOT_FOUND,
): Awaitable<BlockRecord> {
  return whenThere(findBlock(reader, tag), (block) => {
    if (block !== undefined) return block;
    return whenThere(reader.latestBlock(), ({ header }) => {
      const latest = `0x${header.number.toString(16)}`;
      const message = `${missing(blockTagToText(tag))}; the latest is ${latest}`;
      throw new RpcError(SERVER_ERROR, message);
    });
  });
}

export function requireState(reader: StateAtReader, tag: BlockTag): Awaitable<StateAt> {
  return whenThere(requireBlock(reader, tag), (block) =>
    whenThere(reader.stateAt(block), (state) => {
      if (state === undefined) throw prunedBlock(block);
      return state;
    }),
  );
}

export function prunedBlock({ header }: BlockRecord): RpcError {
  const message = `block 0x${header.number.toString(16)} is too old: its history is no longer kept`;
  return new RpcError(HISTORY_PRUNED, message);
}

function blockTagToText(tag: BlockTag): string {
  switch (tag.kind) {
    case "name":
      return tag.name;
    case "number":
      return `0x${tag.number.toString(16)}`;
    case "hash":
      return bytesToHex(tag.hash);
  }
}

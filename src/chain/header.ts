import { err, ok, type Result } from "../base/result.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { addressToBytes } from "./address.ts";
import { BLOOM_SIZE } from "./bloom.ts";
import { decodeRlp, encodeRlp, type RlpErrorCode, type RlpInput, type RlpItem } from "./rlp/rlp.ts";
import { RlpFields, type RlpFieldErrorCode } from "./rlp/rlp-fields.ts";

/** A block header with every field up to Prague, in the order in which it is hashed. */
export type Header = {
  readonly parentHash: Uint8Array;
  readonly ommersHash: Uint8Array;
  readonly coinbase: bigint;
  readonly stateRoot: Uint8Array;
  readonly transactionsRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  readonly logsBloom: Uint8Array;
  readonly difficulty: bigint;
  readonly number: bigint;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Seconds since 1970. */
  readonly timestamp: bigint;
  readonly extraData: Uint8Array;
  readonly mixHash: Uint8Array;
  readonly nonce: Uint8Array;
  readonly baseFeePerGas: bigint;
  readonly withdrawalsRoot: Uint8Array;
  readonly blobGasUsed: bigint;
  readonly excessBlobGas: bigint;
  readonly parentBeaconBlockRoot: Uint8Array;
  /** EIP-7685; undefined before Prague. */
  readonly requestsHash: Uint8Array | undefined;
};

export type HeaderError = {
  readonly code: RlpErrorCode | RlpFieldErrorCode | "HEADER_EXTRA_DATA_TOO_LONG";
  readonly field?: string;
};

export const HEADER_NONCE_SIZE = 8;
const HASH_SIZE = 32;
const EXTRA_DATA_SIZE_MAX = 32;
const FIELD_COUNT_CANCUN = 20;
const FIELD_COUNT_PRAGUE = 21;

export function headerHash(header: Header): Uint8Array {
  return keccak256(encodeHeader(header));
}

export function encodeHeader(header: Header): Uint8Array {
  return encodeRlp(headerFields(header));
}

export function headerFields(header: Header): readonly RlpInput[] {
  const fields: RlpInput[] = [
    header.parentHash,
    header.ommersHash,
    addressToBytes(header.coinbase),
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    header.difficulty,
    header.number,
    header.gasLimit,
    header.gasUsed,
    header.timestamp,
    header.extraData,
    header.mixHash,
    header.nonce,
    header.baseFeePerGas,
    header.withdrawalsRoot,
    header.blobGasUsed,
    header.excessBlobGas,
    header.parentBeaconBlockRoot,
  ];
  if (header.requestsHash !== undefined) fields.push(header.requestsHash);
  return fields;
}

export function decodeHeader(bytes: Uint8Array): Result<Header, HeaderError> {
  const item = decodeRlp(bytes);
  return item.ok ? readHeader(item.value) : err({ code: item.error.code });
}

/** A header inside something larger that is decoded already. */
export function readHeader(item: RlpItem): Result<Header, HeaderError> {
  const fields = new RlpFields();
  fields.enter(item, "header", FIELD_COUNT_CANCUN, FIELD_COUNT_PRAGUE);
  const header: Header = {
    parentHash: fields.fixedBytes("parentHash", HASH_SIZE),
    ommersHash: fields.fixedBytes("ommersHash", HASH_SIZE),
    coinbase: fields.address("coinbase"),
    stateRoot: fields.fixedBytes("stateRoot", HASH_SIZE),
    transactionsRoot: fields.fixedBytes("transactionsRoot", HASH_SIZE),
    receiptsRoot: fields.fixedBytes("receiptsRoot", HASH_SIZE),
    logsBloom: fields.fixedBytes("logsBloom", BLOOM_SIZE),
    difficulty: fields.integer("difficulty"),
    number: fields.integer("number", 8),
    gasLimit: fields.integer("gasLimit", 8),
    gasUsed: fields.integer("gasUsed", 8),
    timestamp: fields.integer("timestamp", 8),
    extraData: fields.bytes("extraData"),
    mixHash: fields.fixedBytes("mixHash", HASH_SIZE),
    nonce: fields.fixedBytes("nonce", HEADER_NONCE_SIZE),
    baseFeePerGas: fields.integer("baseFeePerGas"),
    withdrawalsRoot: fields.fixedBytes("withdrawalsRoot", HASH_SIZE),
    blobGasUsed: fields.integer("blobGasUsed", 8),
    excessBlobGas: fields.integer("excessBlobGas", 8),
    parentBeaconBlockRoot: fields.fixedBytes("parentBeaconBlockRoot", HASH_SIZE),
    requestsHash: fields.hasNext() ? fields.fixedBytes("requestsHash", HASH_SIZE) : undefined,
  };
  if (fields.failure !== undefined) return err(fields.failure);
  if (header.extraData.length > EXTRA_DATA_SIZE_MAX) {
    return err({ code: "HEADER_EXTRA_DATA_TOO_LONG" });
  }
  return ok(header);
}

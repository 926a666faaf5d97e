import { equalBytes } from "../base/bytes.ts";
import { bigEndianSize, writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { err, ok, type Result } from "../base/result.ts";
import { ADDRESS_SIZE } from "./address.ts";
import { bloomOfLogs, BLOOM_SIZE, type Log } from "./bloom.ts";
import { itemListRoot } from "./list-root.ts";
import { decodeRlp, type RlpErrorCode, type RlpItem } from "./rlp/rlp.ts";
import { RlpFields, type RlpFieldErrorCode } from "./rlp/rlp-fields.ts";
import { headerSize, LIST_BASE, STRING_BASE, writeHeader } from "./rlp/rlp-header.ts";
import type { Transaction } from "./transaction.ts";

/** What a transaction left behind, in the form that receiptsRoot commits to. */
export type Receipt = {
  readonly type: Transaction["type"];
  readonly succeeded: boolean;
  /** Gas used in the block up to and including this transaction. */
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly Log[];
  /** Of these logs: kept because it takes a hash for each address and topic. */
  readonly logsBloom: Uint8Array;
};

export type ReceiptError = {
  readonly code:
    | RlpErrorCode
    | RlpFieldErrorCode
    | "RECEIPT_TYPE_UNKNOWN"
    | "RECEIPT_STATUS_INVALID"
    | "RECEIPT_BLOOM_WRONG";
};

const TOPICS_MAX = 4;
const WORD_SIZE = 32;

export function createReceipt(fields: Omit<Receipt, "logsBloom">): Receipt {
  return { ...fields, logsBloom: bloomOfLogs(fields.logs) };
}

export function encodeReceipt(receipt: Receipt): Uint8Array {
  const size = writeReceipt(receipt);
  return scratch.slice(0, size);
}

/** What a header keeps of its receipts; none of them is kept encoded for it. */
export function receiptsRoot(receipts: readonly Receipt[]): Uint8Array {
  const itemAt = (index: number): Uint8Array => {
    const receipt = receipts[index];
    invariant(receipt !== undefined, "a list of receipts has no holes");
    const size = writeReceipt(receipt);
    return scratch.subarray(0, size);
  };
  return itemListRoot({ length: receipts.length, itemAt });
}

/** Written by `writeReceipt` and read within one synchronous call. */
let scratch = new Uint8Array(4096);
/** Type, list header, status, gas, bloom and the header of the logs need less. */
const FIXED_SIZE_MAX = 320;

/** Writes the encoding at the start of `scratch` and returns its size. */
function writeReceipt({ type, succeeded, cumulativeGasUsed, logs, logsBloom }: Receipt): number {
  let logsLength = 0;
  for (const log of logs) {
    const length = logLength(log);
    logsLength += headerSize(length) + length;
  }
  reserve(FIXED_SIZE_MAX + logsLength);
  const gasSize = bigEndianSize(cumulativeGasUsed);
  const isGasShort = gasSize === 1 && cumulativeGasUsed < 0x80n;
  const gasLength = isGasShort ? 1 : 1 + gasSize;
  const bloomLength = headerSize(BLOOM_SIZE) + BLOOM_SIZE;
  const length = 1 + gasLength + bloomLength + headerSize(logsLength) + logsLength;
  let at = 0;
  if (type !== 0) scratch[at++] = type;
  at = writeHeader(scratch, at, length, LIST_BASE);
  scratch[at++] = succeeded ? 1 : STRING_BASE;
  if (!isGasShort) scratch[at++] = STRING_BASE + gasSize;
  writeBigEndian(cumulativeGasUsed, scratch, at, gasSize);
  at = writeHeader(scratch, at + gasSize, BLOOM_SIZE, STRING_BASE);
  scratch.set(logsBloom, at);
  at = writeHeader(scratch, at + BLOOM_SIZE, logsLength, LIST_BASE);
  for (const log of logs) at = writeLog(log, at);
  return at;
}

function writeLog(log: Log, offset: number): number {
  const { address, topics, data } = log;
  let at = writeHeader(scratch, offset, logLength(log), LIST_BASE);
  scratch[at++] = STRING_BASE + ADDRESS_SIZE;
  writeBigEndian(address, scratch, at, ADDRESS_SIZE);
  at = writeHeader(scratch, at + ADDRESS_SIZE, topics.length * (1 + WORD_SIZE), LIST_BASE);
  for (const topic of topics) {
    scratch[at++] = STRING_BASE + WORD_SIZE;
    writeBigEndian(topic, scratch, at, WORD_SIZE);
    at += WORD_SIZE;
  }
  if (!isOwnEncoding(data)) at = writeHeader(scratch, at, data.length, STRING_BASE);
  scratch.set(data, at);
  return at + data.length;
}

/** Of the payload of the log's list. */
function logLength({ topics, data }: Log): number {
  const topicsLength = topics.length * (1 + WORD_SIZE);
  const dataSize = isOwnEncoding(data) ? 1 : headerSize(data.length) + data.length;
  return 1 + ADDRESS_SIZE + headerSize(topicsLength) + topicsLength + dataSize;
}

/** A single low byte stands for itself in RLP. */
function isOwnEncoding(data: Uint8Array): boolean {
  return data.length === 1 && (data[0] ?? 0) < STRING_BASE;
}

function reserve(size: number): void {
  if (scratch.length < size) scratch = new Uint8Array(2 * size);
}

/** From bytes that another node sent or a disk kept. */
export function decodeReceipt(bytes: Uint8Array): Result<Receipt, ReceiptError> {
  const first = bytes[0] ?? 0;
  const type = first >= 0xc0 ? 0 : first;
  if (type !== 1 && type !== 2 && type !== 4 && first < 0xc0) {
    return err({ code: "RECEIPT_TYPE_UNKNOWN" });
  }
  const item = decodeRlp(first < 0xc0 ? bytes.subarray(1) : bytes);
  if (!item.ok) return err({ code: item.error.code });
  const fields = new RlpFields();
  fields.enter(item.value, "receipt", 4, 4);
  const status = fields.integer("status");
  const cumulativeGasUsed = fields.integer("cumulativeGasUsed", 8);
  const logsBloom = fields.fixedBytes("logsBloom", BLOOM_SIZE);
  const logItems = fields.list("logs");
  const logs = logItems.map((logItem) => readLog(fields, logItem));
  if (fields.failure !== undefined) return err({ code: fields.failure.code });
  if (status > 1n) return err({ code: "RECEIPT_STATUS_INVALID" });
  if (!equalBytes(bloomOfLogs(logs), logsBloom)) return err({ code: "RECEIPT_BLOOM_WRONG" });
  return ok({
    type: type === 1 || type === 2 || type === 4 ? type : 0,
    succeeded: status === 1n,
    cumulativeGasUsed,
    logs,
    logsBloom,
  });
}

function readLog(fields: RlpFields, item: RlpItem): Log {
  fields.enter(item, "log", 3, 3);
  const address = fields.address("log.address");
  const topicItems = fields.list("log.topics");
  const data = fields.bytes("log.data");
  fields.enter(topicItems, "log.topics", 0, TOPICS_MAX);
  const topics: bigint[] = [];
  while (fields.hasNext()) topics.push(fields.word("log.topic"));
  return { address, topics, data };
}

import { equalBytes } from "../base/bytes.ts";
import { writeBigEndian } from "../base/big-endian.ts";
import { err, ok, type Result } from "../base/result.ts";
import { addressToBytes } from "./address.ts";
import { bloomOfLogs, BLOOM_SIZE, type Log } from "./bloom.ts";
import { decodeRlp, encodeRlp, type RlpErrorCode, type RlpInput, type RlpItem } from "./rlp.ts";
import { RlpFields, type RlpFieldErrorCode } from "./rlp-fields.ts";
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

export function createReceipt(fields: Omit<Receipt, "logsBloom">): Receipt {
  return { ...fields, logsBloom: bloomOfLogs(fields.logs) };
}

export function encodeReceipt(receipt: Receipt): Uint8Array {
  const { type, succeeded, cumulativeGasUsed, logs, logsBloom } = receipt;
  const payload = encodeRlp([succeeded ? 1 : 0, cumulativeGasUsed, logsBloom, logs.map(logFields)]);
  if (type === 0) return payload;
  const encoded = new Uint8Array(1 + payload.length);
  encoded[0] = type;
  encoded.set(payload, 1);
  return encoded;
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

function logFields(log: Log): RlpInput {
  return [addressToBytes(log.address), log.topics.map(topicToBytes), log.data];
}

function topicToBytes(topic: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeBigEndian(topic, bytes, 0, 32);
  return bytes;
}

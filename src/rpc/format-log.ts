import { bytesToHex } from "../base/hex.ts";
import { addressToHex } from "../chain/address.ts";
import type { Log } from "../chain/bloom.ts";
import type { Receipt } from "../chain/receipt.ts";
import type { BlockRecord } from "./chain-reader.ts";
import type { JsonObject } from "./parameters.ts";
import { quantity, word } from "./quantity.ts";

export type LogPlace = {
  readonly block: BlockRecord;
  readonly transactionIndex: number;
  readonly transactionHash: Uint8Array;
  /** Counted over the whole block. */
  readonly logIndex: number;
};

export function formatLog(log: Log, place: LogPlace): JsonObject {
  const { hash, header } = place.block;
  return {
    address: addressToHex(log.address),
    topics: log.topics.map(word),
    data: bytesToHex(log.data),
    blockNumber: quantity(header.number),
    transactionHash: bytesToHex(place.transactionHash),
    transactionIndex: quantity(place.transactionIndex),
    blockHash: bytesToHex(hash),
    blockTimestamp: quantity(header.timestamp),
    logIndex: quantity(place.logIndex),
    removed: false,
  };
}

/** The logs of one transaction. */
export function formatLogs(
  block: BlockRecord,
  receipts: readonly Receipt[],
  transactionIndex: number,
): readonly JsonObject[] {
  const transactionHash = block.transactionHashes[transactionIndex] ?? NO_HASH;
  let logIndex = 0;
  for (const { logs } of receipts.slice(0, transactionIndex)) logIndex += logs.length;
  const logs = receipts[transactionIndex]?.logs ?? [];
  return logs.map((log, index) =>
    formatLog(log, { block, transactionIndex, transactionHash, logIndex: logIndex + index }),
  );
}

const NO_HASH = new Uint8Array(0);

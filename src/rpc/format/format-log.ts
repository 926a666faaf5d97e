import { bytesToHex } from "../../base/hex.ts";
import { addressToHex } from "../../chain/address.ts";
import type { Log } from "../../chain/bloom.ts";
import type { Receipt } from "../../chain/receipt.ts";
import type { BlockRecord } from "../../api/chain-reader.ts";
import type { JsonObject } from "../params/parameters.ts";
import { quantity, word } from "./quantity.ts";

export type LogPosition = {
  readonly block: BlockRecord;
  readonly transactionIndex: number;
  readonly transactionHash: Uint8Array;
  /** Counted over the whole block. */
  readonly logIndex: number;
};

export function formatLog(log: Log, place: LogPosition): JsonObject {
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

/** The logs of one transaction; `place` is that of the first. */
export function formatLogs(logs: readonly Log[], place: LogPosition): readonly JsonObject[] {
  return logs.map((log, index) => formatLog(log, { ...place, logIndex: place.logIndex + index }));
}

/** How many logs the block has before this transaction. */
export function firstLogIndex(receipts: readonly Receipt[], transactionIndex: number): number {
  let count = 0;
  for (let index = 0; index < transactionIndex; index++) count += receipts[index]?.logs.length ?? 0;
  return count;
}

/**
 * The senders that the main thread recovered at admission, handed over with a block: 20 bytes each
 * in the order of its transactions, and zeros for one that is not known.
 */
import { readBigEndian } from "../../base/big-endian.ts";
import { hexToBytes } from "../../base/hex.ts";
import { ADDRESS_SIZE } from "../../chain/address.ts";
import { decodeTransaction } from "../../chain/transaction-decoder.ts";
import type { KnownTransaction } from "../../ledger/block-executor.ts";

export function knownSenders(senders: Uint8Array | undefined): KnownTransaction {
  return ({ id, bytes }, position) => {
    if (senders === undefined || senders.length < (position + 1) * ADDRESS_SIZE) return undefined;
    const sender = readBigEndian(senders, position * ADDRESS_SIZE, ADDRESS_SIZE);
    if (sender === 0n) return undefined;
    const transaction = decodeTransaction(bytes);
    if (!transaction.ok) return undefined;
    return { transaction: transaction.value, encoded: bytes, hash: hexToBytes(id), sender };
  };
}

/** A thread that recovers senders, a batch at a time (signature-recovery-pool.ts). */
import { parentPort } from "node:worker_threads";
import { writeBigEndian } from "../base/big-endian.ts";
import { invariant } from "../base/invariant.ts";
import { ADDRESS_SIZE } from "../chain/address.ts";
import { decodeTransaction } from "../chain/transaction-decoder.ts";
import { recoverSender } from "../chain/transaction-sender.ts";
import { unpackBatch } from "./signature-recovery-batch.ts";

export type RecoveryRequest = { readonly ticket: number; readonly packed: Uint8Array };
export type RecoveryAnswer = { readonly ticket: number; readonly senders: Uint8Array };

/** 20 bytes each, and zeros for one that is malformed or whose signature recovers no key. */
function recoverBatch(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const batch = unpackBatch(packed);
  const senders = new Uint8Array(batch.length * ADDRESS_SIZE);
  batch.forEach((bytes, index) => {
    const decoded = decodeTransaction(bytes);
    const sender = decoded.ok ? recoverSender(decoded.value) : undefined;
    writeBigEndian(sender ?? 0n, senders, index * ADDRESS_SIZE, ADDRESS_SIZE);
  });
  return senders;
}

invariant(parentPort !== null, "this file is the entry of a thread");
const port = parentPort;
port.on("message", ({ ticket, packed }: RecoveryRequest) => {
  const senders = recoverBatch(packed);
  const answer: RecoveryAnswer = { ticket, senders };
  port.postMessage(answer, [senders.buffer]);
});

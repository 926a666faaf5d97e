/**
 * Transactions of the simulator: a client number, the client's own count and a tag that only the
 * client can make. Like an account with nonces, each count is executed once and in order.
 */
import { concatBytes, equalBytes } from "../../src/base/bytes.ts";
import type { Transaction } from "../../src/consensus/block.ts";
import type { Message } from "../../src/consensus/message.ts";
import { sha256 } from "../../src/crypto/sha256.ts";
import { createTransaction } from "../../src/wire/block-codec.ts";

const HEAD_SIZE = 5;
const TAG_SIZE = 8;
const CALL_GAS = 21_000;
const SECRET = new TextEncoder().encode("the secret of every simulated client");

export type ToyCall = { readonly client: number; readonly count: number };

export function signCall(call: ToyCall, padding: number): Transaction {
  const head = new Uint8Array(HEAD_SIZE + padding);
  head[0] = call.client;
  new DataView(head.buffer).setUint32(1, call.count);
  return createTransaction(concatBytes(head, tagOf(head)), CALL_GAS);
}

/** What a transaction asks for, or undefined when its client did not sign it. */
export function parseTransaction(bytes: Uint8Array): ToyCall | undefined {
  if (bytes.length < HEAD_SIZE + TAG_SIZE) return undefined;
  const head = bytes.subarray(0, bytes.length - TAG_SIZE);
  if (!equalBytes(tagOf(head), bytes.subarray(bytes.length - TAG_SIZE))) return undefined;
  const count = new DataView(head.buffer, head.byteOffset).getUint32(1);
  return { client: head[0] ?? 0, count };
}

/** What the driver of a real replica finds out with other threads. */
export function areTransactionsValid(message: Message): boolean {
  return carried(message).every(({ bytes }) => parseTransaction(bytes) !== undefined);
}

function carried(message: Message): readonly Transaction[] {
  if (message.kind === "propose") return message.body.transactions;
  if (message.kind === "forward") return [message.transaction];
  if (message.kind !== "bodyResponse" && message.kind !== "blockResponse") return [];
  return message.blocks.flatMap(({ body }) => body.transactions);
}

function tagOf(head: Uint8Array): Uint8Array {
  return sha256(concatBytes(SECRET, head)).subarray(0, TAG_SIZE);
}

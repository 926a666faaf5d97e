/**
 * Transactions, bodies and blocks.
 *
 * A body is a table of (gas, size) followed by all transactions' bytes in one run, so that decoding
 * copies the payload once and each transaction is a window into that copy.
 *
 * A transaction's id is not on the wire: it is the keccak-256 of its bytes, computed on arrival, so
 * a peer cannot send bytes under another transaction's id. Its gas is on the wire because it cannot
 * be known without decoding the transaction: the decoder of the transaction (the driver, for
 * `transactionsValid`) must compare it with the limit that the transaction itself declares.
 */
import { keccak256 } from "../crypto/keccak256.ts";
import { invariant } from "../base/invariant.ts";
import type { Block, Body, Rejoin, Transaction } from "../consensus/block.ts";
import { bodySize } from "../consensus/block.ts";
import { bytesToHash } from "./hash-text.ts";
import { HEADER_SIZE, readConsensusHeader, writeConsensusHeader } from "./header-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import {
  BLOCKS_MAX,
  BODY_PAYLOAD_SIZE_MAX,
  BODY_TRANSACTIONS_MAX,
  SIGNATURE_SIZE,
} from "./limits.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** Gas and size. */
const TRANSACTION_SIZE_MIN = 8 + 4;
const REJOIN_SIZE = 1 + 4 + HASH_SIZE + SIGNATURE_SIZE;
const BODY_SIZE_MIN = 1 + 4;
const BLOCK_SIZE_MIN = HASH_SIZE + HEADER_SIZE + BODY_SIZE_MIN;

export function createTransaction(bytes: Uint8Array, gas: number): Transaction {
  return { id: bytesToHash(keccak256(bytes)), gas, bytes };
}

/** How many bytes a block takes inside a message: for those who fill a response up to a limit. */
export function encodedBlockSize({ body }: Block): number {
  const tableSize = TRANSACTION_SIZE_MIN * body.transactions.length;
  const rejoinSize = body.rejoin === undefined ? 0 : REJOIN_SIZE;
  return BLOCK_SIZE_MIN + rejoinSize + tableSize + bodySize(body);
}

export function writeTransaction(writer: Writer, transaction: Transaction): void {
  invariant(transaction.bytes.length <= BODY_PAYLOAD_SIZE_MAX, "a transaction fits into a body");
  writer.uint64(transaction.gas);
  writer.uint32(transaction.bytes.length);
  writer.bytes(transaction.bytes);
}

export function readTransaction(reader: Reader): Transaction {
  const gas = reader.uint64();
  const bytes = reader.bytes(readPayloadSize(reader));
  return createTransaction(bytes, gas);
}

export function writeRejoin(writer: Writer, rejoin: Rejoin): void {
  writer.replica(rejoin.member);
  writer.uint32(rejoin.epoch);
  writer.hash(rejoin.nonce);
  writer.signature(rejoin.signature);
}

export function readRejoin(reader: Reader): Rejoin {
  return {
    kind: "rejoin",
    member: reader.replica(),
    epoch: reader.uint32(),
    nonce: reader.hash(),
    signature: reader.signature(),
  };
}

/**
 * A body with both transactions and a Rejoin can be written: refusing it is the core's decision.
 */
export function writeBlockBody(writer: Writer, body: Body): void {
  writer.flag(body.rejoin !== undefined);
  if (body.rejoin !== undefined) writeRejoin(writer, body.rejoin);
  invariant(bodySize(body) <= BODY_PAYLOAD_SIZE_MAX, "a body's payload is within its limit");
  writer.list(body.transactions, BODY_TRANSACTIONS_MAX, ({ gas, bytes }) => {
    writer.uint64(gas);
    writer.uint32(bytes.length);
  });
  for (const { bytes } of body.transactions) writer.bytes(bytes);
}

export function readBlockBody(reader: Reader): Body {
  const rejoin = reader.flag() ? readRejoin(reader) : undefined;
  let payloadSize = 0;
  const table = reader.list(BODY_TRANSACTIONS_MAX, TRANSACTION_SIZE_MIN, () => {
    const entry = { gas: reader.uint64(), size: readPayloadSize(reader) };
    payloadSize += entry.size;
    return entry;
  });
  if (payloadSize > BODY_PAYLOAD_SIZE_MAX) reader.fail("WIRE_LIMIT_EXCEEDED");
  const payload = reader.bytes(payloadSize);
  // A refused payload is empty: do not hash windows into nothing.
  if (payload.length !== payloadSize) return { transactions: [], rejoin };
  let offset = 0;
  const transactions = table.map(({ gas, size }) => {
    const bytes = payload.subarray(offset, offset + size);
    offset += size;
    return createTransaction(bytes, gas);
  });
  return { transactions, rejoin };
}

export function writeBlock(writer: Writer, block: Block): void {
  writer.hash(block.hash);
  writeConsensusHeader(writer, block.header);
  writeBlockBody(writer, block.body);
}

/** The hash is what the sender claims: `authenticate` compares it with the header. */
export function readBlock(reader: Reader): Block {
  return { hash: reader.hash(), header: readConsensusHeader(reader), body: readBlockBody(reader) };
}

export function writeBlocks(writer: Writer, blocks: readonly Block[]): void {
  writer.list(blocks, BLOCKS_MAX, (block) => writeBlock(writer, block));
}

export function readBlocks(reader: Reader): Block[] {
  return reader.list(BLOCKS_MAX, BLOCK_SIZE_MIN, () => readBlock(reader));
}

function readPayloadSize(reader: Reader): number {
  const size = reader.uint32();
  if (size <= BODY_PAYLOAD_SIZE_MAX) return size;
  reader.fail("WIRE_LIMIT_EXCEEDED");
  return 0;
}

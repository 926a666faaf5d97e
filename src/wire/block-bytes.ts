/**
 * Final blocks and their certificates as separate byte strings: the form in which they are stored,
 * handed to the execution thread and sent to client nodes. Both stand in messages exactly as they
 * are here, so a response to a peer is put together without decoding anything.
 */
import { invariant } from "../base/invariant.ts";
import { err, type Result } from "../base/result.ts";
import type { Block, Hash, Header } from "../consensus/block.ts";
import type { FinalCert } from "../consensus/certificate.ts";
import { readBlock, writeBlock } from "./block-codec.ts";
import { readFinalCert, writeCertificate } from "./certificate-codec.ts";
import { HEADER_SIZE, readConsensusHeader } from "./header-codec.ts";
import { HASH_SIZE } from "../crypto/keccak256.ts";
import { BLOCKS_MAX, MESSAGE_SIZE_MAX } from "./limits.ts";
import { BLOCK_RESPONSE_TYPE, WIRE_VERSION } from "./message-codec.ts";
import { Reader, type WireError } from "./reader.ts";
import { Writer } from "./writer.ts";

/** Where the flag of a Rejoin stands in the bytes of a block. */
const REJOIN_FLAG_OFFSET = HASH_SIZE + HEADER_SIZE;

const writer = new Writer();

export function encodeBlockBytes(block: Block): Uint8Array {
  writer.reset();
  writeBlock(writer, block);
  return writer.take();
}

export function decodeBlockBytes(bytes: Uint8Array): Result<Block, WireError> {
  if (bytes.length > MESSAGE_SIZE_MAX) return err({ code: "WIRE_LIMIT_EXCEEDED", offset: 0 });
  const reader = new Reader(bytes);
  return reader.finish(readBlock(reader));
}

/** The name and header of an encoded block, without its transactions being looked at. */
export function readBlockHead(bytes: Uint8Array): { readonly hash: Hash; readonly header: Header } {
  invariant(bytes.length > REJOIN_FLAG_OFFSET, "a block is at least a header and a flag");
  const reader = new Reader(bytes.subarray(0, REJOIN_FLAG_OFFSET));
  return { hash: reader.hash(), header: readConsensusHeader(reader) };
}

export function encodeFinalCert(certificate: FinalCert): Uint8Array {
  writer.reset();
  writeCertificate(writer, certificate);
  return writer.take();
}

export function decodeFinalCert(bytes: Uint8Array): Result<FinalCert, WireError> {
  const reader = new Reader(bytes);
  return reader.finish(readFinalCert(reader));
}

/** Whether an encoded block ends its epoch. For bytes that our own encoder made. */
export function isBoundaryBlock(bytes: Uint8Array): boolean {
  invariant(bytes.length > REJOIN_FLAG_OFFSET, "a block is at least a header and a flag");
  return bytes[REJOIN_FLAG_OFFSET] === 1;
}

/**
 * A BlockResponse of encoded blocks, in parts that make up its bytes: what `encodeMessage` gives for
 * the decoded message.
 */
export function blockResponseParts(
  blocks: readonly Uint8Array[],
  certificate: Uint8Array,
): readonly Uint8Array[] {
  invariant(blocks.length <= BLOCKS_MAX, "a response has at most so many blocks");
  writer.reset();
  writer.uint8(WIRE_VERSION);
  writer.uint8(BLOCK_RESPONSE_TYPE);
  writer.uint32(blocks.length);
  return [writer.take(), ...blocks, certificate];
}

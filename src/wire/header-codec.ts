/** Block headers: 132 bytes, all widths fixed. Their hash is made of exactly these bytes. */
import type { Header } from "../consensus/block.ts";
import { HEADERS_MAX } from "./limits.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

export const HEADER_SIZE = 132;

export function writeConsensusHeader(writer: Writer, header: Header): void {
  writer.uint32(header.epoch);
  writer.uint64(header.height);
  writer.hash(header.parent);
  writer.hash(header.payloadHash);
  writer.uint32(header.txCount);
  writer.uint32(header.payloadSize);
  writer.uint64(header.timestampMs);
  writer.uint64(header.execHeight);
  writer.hash(header.execResult);
}

export function readConsensusHeader(reader: Reader): Header {
  return {
    epoch: reader.uint32(),
    height: reader.uint64(),
    parent: reader.hash(),
    payloadHash: reader.hash(),
    txCount: reader.uint32(),
    payloadSize: reader.uint32(),
    timestampMs: reader.uint64(),
    execHeight: reader.uint64(),
    execResult: reader.hash(),
  };
}

export function writeHeaders(writer: Writer, headers: readonly Header[]): void {
  writer.list(headers, HEADERS_MAX, (header) => writeConsensusHeader(writer, header));
}

export function readHeaders(reader: Reader): Header[] {
  return reader.list(HEADERS_MAX, HEADER_SIZE, () => readConsensusHeader(reader));
}

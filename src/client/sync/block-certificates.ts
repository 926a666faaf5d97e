/** The proofs of a block, put together from what is stored of it and of the blocks after it. */
import { hexToBytes } from "../../base/hex.ts";
import { invariant } from "../../base/invariant.ts";
import type { BlockCertificate } from "../../api/block-certificate.ts";
import type { ExecVote } from "../../consensus/message.ts";
import type { BlockStore } from "../../storage/block-store.ts";
import { readBlockHead } from "../../wire/block-bytes.ts";
import { HEADER_SIZE } from "../../wire/header-codec.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import { REPLICAS_MAX } from "../../chain/genesis.ts";
import { Reader } from "../../wire/reader.ts";
import { readExecVote, writeExecVote } from "../../wire/signed-codec.ts";
import { Writer } from "../../wire/writer.ts";

/** More than a correct chain ever has without a certificate. */
const HEADERS_MAX = 1_024;
const VOTE_SIZE_MIN = 64;

export function encodeVotes(votes: readonly ExecVote[]): Uint8Array {
  const writer = new Writer();
  writer.list(votes, REPLICAS_MAX, (vote) => writeExecVote(writer, vote));
  return writer.take();
}

export function decodeVotes(bytes: Uint8Array): readonly ExecVote[] {
  const reader = new Reader(bytes);
  const votes = reader.list(REPLICAS_MAX, VOTE_SIZE_MIN, () => readExecVote(reader));
  const read = reader.finish(votes);
  invariant(read.ok, "the store gives back what was put in");
  return read.value;
}

/** Undefined if some of it is no longer kept, or was not kept when the height was published. */
export function certificateAt(
  blocks: BlockStore,
  net: Uint8Array,
  height: number,
): BlockCertificate | undefined {
  const result = blocks.get(height, "result");
  const votes = blocks.get(height, "votes");
  const block = blocks.get(height, "block");
  if (result === undefined || votes === undefined || block === undefined) return undefined;
  const headers: Uint8Array[] = [];
  for (let at = height; headers.length < HEADERS_MAX; at++) {
    const encoded = blocks.get(at, "block");
    if (encoded === undefined) return undefined;
    headers.push(Uint8Array.from(encoded.subarray(HASH_SIZE, HASH_SIZE + HEADER_SIZE)));
    const commit = blocks.get(at, "certificate");
    if (commit === undefined) continue;
    return {
      net,
      height,
      consensusHash: hexToBytes(readBlockHead(Uint8Array.from(block)).hash),
      headers,
      commit: Uint8Array.from(commit),
      result: Uint8Array.from(result),
      votes: decodeVotes(Uint8Array.from(votes)).map(({ sender, epoch, signature }) => ({
        replica: sender,
        epoch,
        signature,
      })),
    };
  }
  return undefined;
}

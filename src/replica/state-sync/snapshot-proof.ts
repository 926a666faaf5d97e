/** Whether what a peer offers is the state that the network agreed on (PROTOCOL §8.5). */
import { equalBytes } from "../../base/bytes.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { decodeHeader, headerHash, type Header } from "../../chain/header.ts";
import type { Hash, ReplicaIndex } from "../../consensus/block.ts";
import type { ExecVote } from "../../consensus/message.ts";
import { resultHash } from "../../execution/result-hash.ts";
import type { ChainHead } from "../../ledger/chain-records.ts";
import { bytesToHash } from "../../wire/hash-text.ts";
import { RING_SIZE } from "../execution/recent-chain.ts";

export type OfferFault =
  "SNAPSHOT_HEADER_MALFORMED" | "SNAPSHOT_HEADERS_UNLINKED" | "SNAPSHOT_HEADERS_MISSING";

/** Headers that prove each other; whether the last one is right is another question. */
export type ProvedOffer = {
  readonly height: number;
  readonly headers: readonly Header[];
  readonly head: ChainHead;
  /** What replicas that have executed the height signed, if the offer is true. */
  readonly result: Hash;
};

export function proveOffer(
  height: number,
  encodedHeaders: readonly Uint8Array[],
): Result<ProvedOffer, OfferFault> {
  const headers: Header[] = [];
  let last: ChainHead | undefined;
  for (const bytes of encodedHeaders) {
    const decoded = decodeHeader(bytes);
    if (!decoded.ok) return err("SNAPSHOT_HEADER_MALFORMED");
    const header = decoded.value;
    if (last !== undefined) {
      const isNext = header.number === last.header.number + 1n;
      if (!isNext || !equalBytes(header.parentHash, last.hash)) {
        return err("SNAPSHOT_HEADERS_UNLINKED");
      }
    }
    last = { header, hash: headerHash(header) };
    headers.push(header);
  }
  if (last === undefined) return err("SNAPSHOT_HEADERS_MISSING");
  // Fewer only where the chain itself is shorter: BLOCKHASH must find all that it may ask for.
  const expected = Math.min(RING_SIZE, Number(last.header.number) + 1);
  if (headers.length !== expected) return err("SNAPSHOT_HEADERS_MISSING");
  const result = bytesToHash(resultHash(last.header, last.hash));
  return ok({ height, headers, head: last, result });
}

/** Signed results of one height, of which f+1 equal ones are believed: one of them is correct. */
export class SnapshotResultVotes {
  readonly #height: number;
  readonly #needed: number;
  readonly #votes = new Map<ReplicaIndex, ExecVote>();

  constructor(height: number, needed: number) {
    this.#height = height;
    this.#needed = needed;
  }

  has(replica: ReplicaIndex): boolean {
    return this.#votes.has(replica);
  }

  /** The signature was verified. */
  add(vote: ExecVote): void {
    if (vote.height === this.#height) this.#votes.set(vote.sender, vote);
  }

  /** The result that enough replicas signed for one and the same block. */
  certified(): Hash | undefined {
    const counts = new Map<string, number>();
    for (const { blockHash, result } of this.#votes.values()) {
      const claim = `${blockHash} ${result}`;
      const count = (counts.get(claim) ?? 0) + 1;
      if (count >= this.#needed) return result;
      counts.set(claim, count);
    }
    return undefined;
  }
}

/** Final blocks as the driver needs them: taken from the core, served to peers and clients. */
import { invariant } from "../base/invariant.ts";
import type { Block } from "../consensus/block.ts";
import type { FinalCert } from "../consensus/certificate.ts";
import type { ExecVote } from "../consensus/message.ts";
import type { BlockStore } from "../storage/block-store.ts";
import {
  blockResponseParts,
  encodeBlockBytes,
  encodeFinalCert,
  isBoundaryBlock,
  readBlockHead,
} from "../wire/block-bytes.ts";
import { bytesToHash } from "../wire/hash-text.ts";
import { BLOCKS_MAX, MESSAGE_SIZE_MAX } from "../wire/limits.ts";

/** Room for the head of a response and its certificate. */
const RESPONSE_SIZE_MAX = MESSAGE_SIZE_MAX - 64 * 1024;

export class FinalBlocks {
  readonly #store: BlockStore;
  /** What a correct receiver takes at once (src/consensus/recovery/catch-up.ts). */
  readonly #responseBlocksMax: number;

  constructor(store: BlockStore, window: number) {
    this.#store = store;
    this.#responseBlocksMax = Math.min(BLOCKS_MAX, 32 + 2 * window);
  }

  get latestHeight(): number {
    return this.#store.latestHeight ?? 0;
  }

  /** Takes consecutive blocks and the proof of the last. Heights that are there are left alone. */
  append(blocks: readonly Block[], certificate: FinalCert): void {
    for (const block of blocks) {
      const { height } = block.header;
      if (height <= this.latestHeight) continue;
      const isCertified = height === certificate.height;
      this.#store.append(height, {
        block: encodeBlockBytes(block),
        ...(isCertified && { certificate: encodeFinalCert(certificate) }),
      });
    }
  }

  block(height: number): Uint8Array | undefined {
    return this.#store.get(height, "block");
  }

  certificate(height: number): Uint8Array | undefined {
    return this.#store.get(height, "certificate");
  }

  result(height: number): Uint8Array | undefined {
    return this.#store.get(height, "result");
  }

  /** What this replica signs about a height that it has executed. */
  executionClaim(
    height: number,
  ): Pick<ExecVote, "kind" | "epoch" | "height" | "blockHash" | "result"> | undefined {
    const result = this.result(height);
    const block = this.block(height);
    if (result === undefined || block === undefined) return undefined;
    const { hash: blockHash, header } = readBlockHead(block);
    const { epoch } = header;
    return { kind: "execVote", epoch, height, blockHash, result: bytesToHash(result) };
  }

  putResult(height: number, result: Uint8Array): void {
    invariant(height <= this.latestHeight, "a result is of a block that is here");
    if (this.result(height) === undefined) this.#store.attach(height, { result });
  }

  /**
   * A BlockResponse in parts: from `fromHeight` to `toHeight` or further, up to the first block with
   * a certificate of its own, never past the end of an epoch. Undefined if there is none to give.
   */
  response(fromHeight: number, toHeight: number): readonly Uint8Array[] | undefined {
    const blocks: Uint8Array[] = [];
    let size = 0;
    let proved: { readonly count: number; readonly certificate: Uint8Array } | undefined;
    for (let height = fromHeight; blocks.length < this.#responseBlocksMax; height++) {
      const block = this.block(height);
      if (block === undefined) break;
      const certificate = this.certificate(height);
      size += block.length;
      if (size + (certificate?.length ?? 0) > RESPONSE_SIZE_MAX) break;
      blocks.push(block);
      if (certificate === undefined) continue;
      proved = { count: blocks.length, certificate };
      if (height >= toHeight || isBoundaryBlock(block)) break;
    }
    if (proved === undefined) return undefined;
    return blockResponseParts(blocks.slice(0, proved.count), proved.certificate);
  }

  /** Resolves when everything taken so far survives a crash. */
  flush(): Promise<void> {
    return this.#store.flush();
  }
}

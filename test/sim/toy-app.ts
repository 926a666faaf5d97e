/**
 * What a simulated replica keeps besides its log: final blocks and the state that executing them
 * leaves. Both reach the disk now and then, together, so a crash may lose the last part of them.
 */
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import { concatBytes } from "../../src/base/bytes.ts";
import { invariant } from "../../src/base/invariant.ts";
import type { Block, Hash } from "../../src/consensus/block.ts";
import type { FinalCert } from "../../src/consensus/certificate.ts";
import { sha256 } from "../../src/crypto/sha256.ts";
import { parseTransaction, type ToyCall } from "./toy-transaction.ts";

/** Where a client's last transaction was executed: what a replica answers when it asks again. */
export type Placement = ToyCall & {
  readonly height: number;
  readonly blockHash: Hash;
  readonly result: Hash;
};

type State = {
  execHeight: number;
  /** Results of the last heights only. */
  results: Map<number, Hash>;
  placements: Map<number, Placement>;
};

type Stored = { readonly block: Block; certificate: FinalCert | undefined };

const RESPONSE_BLOCKS_MAX = 32;

export class ToyApp {
  readonly #genesisResult: Hash;
  readonly #keptResults: number;
  /** Blocks that are kept for others; older ones are forgotten. */
  readonly #retention: number;
  #blocks = new Map<number, Stored>();
  #finalHeight = 0;
  #durableHeight = 0;
  #state: State;
  #durableState: State;

  constructor(options: {
    readonly genesisResult: Hash;
    readonly keptResults: number;
    readonly retention: number;
  }) {
    this.#genesisResult = options.genesisResult;
    this.#keptResults = options.keptResults;
    this.#retention = options.retention;
    this.#state = this.#freshState();
    this.#durableState = this.#freshState();
  }

  finalHeight(): number {
    return this.#finalHeight;
  }

  execHeight(): number {
    return this.#state.execHeight;
  }

  placementOf(client: number): Placement | undefined {
    return this.#state.placements.get(client);
  }

  blockAt(height: number): Block | undefined {
    return this.#blocks.get(height)?.block;
  }

  /** Takes what is new of consecutive final blocks; a gap would be a bug of the core. */
  store(blocks: readonly Block[], certificate: FinalCert): void {
    for (const block of blocks) {
      const { height } = block.header;
      if (height <= this.#finalHeight) continue;
      invariant(height === this.#finalHeight + 1, "final blocks come without a gap");
      this.#blocks.set(height, { block, certificate: undefined });
      this.#blocks.delete(height - this.#retention);
      this.#finalHeight = height;
    }
    const last = this.#blocks.get(certificate.height);
    if (last?.block.hash === certificate.blockHash) last.certificate ??= certificate;
  }

  /** Executes the next final block; `perturb` stands for a machine that computes wrongly. */
  executeNext(perturb: boolean): { readonly block: Block; readonly result: Hash } | undefined {
    const state = this.#state;
    const block = this.blockAt(state.execHeight + 1);
    if (block === undefined) return undefined;
    const previous = state.results.get(state.execHeight) ?? this.#genesisResult;
    const seed = concatBytes(
      new Uint8Array([perturb ? 1 : 0]),
      hexToBytes(previous),
      hexToBytes(block.hash),
    );
    const result = bytesToHex(sha256(seed));
    state.execHeight++;
    state.results.set(state.execHeight, result);
    state.results.delete(state.execHeight - this.#keptResults);
    this.#place(block, result);
    return { block, result };
  }

  resultAt(height: number): Hash | undefined {
    return this.#state.results.get(height);
  }

  /** The results this replica still knows, lowest first. */
  knownResults(): readonly (readonly [number, Hash])[] {
    return [...this.#state.results].toSorted(([a], [b]) => a - b);
  }

  flush(): void {
    this.#durableHeight = this.#finalHeight;
    this.#durableState = copyOf(this.#state);
  }

  losePower(): void {
    for (let height = this.#durableHeight + 1; height <= this.#finalHeight; height++) {
      this.#blocks.delete(height);
    }
    this.#finalHeight = this.#durableHeight;
    this.#state = copyOf(this.#durableState);
  }

  wipe(): void {
    this.#blocks = new Map();
    this.#finalHeight = 0;
    this.#durableHeight = 0;
    this.#state = this.#freshState();
    this.#durableState = this.#freshState();
  }

  /** Forgets what was computed, for a machine that computed wrongly. */
  forgetState(): void {
    this.#state = this.#freshState();
    this.#durableState = this.#freshState();
  }

  /** Final blocks from `from`, ending at one that carries its own certificate. */
  range(
    from: number,
    to: number,
  ): { readonly blocks: readonly Block[]; readonly certificate: FinalCert } | undefined {
    const blocks: Block[] = [];
    let proven: { readonly count: number; readonly certificate: FinalCert } | undefined;
    for (let height = from; height <= this.#finalHeight; height++) {
      const stored = this.#blocks.get(height);
      if (stored === undefined) return undefined;
      blocks.push(stored.block);
      if (stored.certificate !== undefined) {
        proven = { count: blocks.length, certificate: stored.certificate };
      }
      const isEnough = height >= to || blocks.length >= RESPONSE_BLOCKS_MAX;
      // The next epoch begins behind a Rejoin: a response does not reach across it.
      const isBoundary = stored.block.body.rejoin !== undefined;
      if ((isEnough || isBoundary) && proven !== undefined) break;
    }
    if (proven === undefined) return undefined;
    return { blocks: blocks.slice(0, proven.count), certificate: proven.certificate };
  }

  #place(block: Block, result: Hash): void {
    for (const transaction of block.body.transactions) {
      const call = parseTransaction(transaction.bytes);
      if (call === undefined) continue;
      const previous = this.#state.placements.get(call.client);
      if (call.count !== (previous?.count ?? 0) + 1) continue;
      const { height } = block.header;
      const placement = { ...call, height, blockHash: block.hash, result };
      this.#state.placements.set(call.client, placement);
    }
  }

  #freshState(): State {
    return {
      execHeight: 0,
      results: new Map([[0, this.#genesisResult]]),
      placements: new Map(),
    };
  }
}

function copyOf(state: State): State {
  return {
    execHeight: state.execHeight,
    results: new Map(state.results),
    placements: new Map(state.placements),
  };
}

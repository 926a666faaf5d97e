/**
 * The chain as clients of ethrpc read it: only what is published, which is final, executed here and
 * matched by f+1 signed results (SPEC E12). Everything is local.
 */
import { equalBytes } from "../../base/bytes.ts";
import { invariant } from "../../base/invariant.ts";
import type { BlockCertificate } from "../../api/block-certificate.ts";
import type { BlockTransaction } from "../../chain/block-transaction.ts";
import type { GenesisBlock } from "../../chain/genesis-block.ts";
import type { Receipt } from "../../chain/receipt.ts";
import type { StateReader } from "../../state/state-reader.ts";
import type { BlockStore } from "../../storage/block-store.ts";
import { certificateAt } from "../sync/block-certificates.ts";
import { BlockCache } from "./block-cache.ts";
import { StoredBlockRecord } from "./block-record.ts";
import type { ChainExecutor } from "../sync/chain-executor.ts";
import type { PublishedHead } from "../sync/published-head.ts";

export type LocatedTransaction = {
  readonly block: StoredBlockRecord;
  readonly index: number;
  readonly transaction: BlockTransaction;
};

/** Accounts as they are after one block. */
export type StateAtBlock = {
  balance(address: bigint): bigint;
  nonce(address: bigint): bigint;
  code(address: bigint): Uint8Array;
  storage(address: bigint, slot: bigint): bigint;
};

export type ChainReaderDependencies = {
  readonly executor: ChainExecutor;
  readonly genesisBlock: GenesisBlock;
  readonly blocks: BlockStore;
  readonly published: PublishedHead;
};

/** Names a block whose record may come from elsewhere. */
export type NamedBlock = {
  readonly header: { readonly number: bigint };
  readonly hash: Uint8Array;
};

const CACHE_OPTIONS = { blocksMax: 256, bytesMax: 32_000_000 };

export class ChainReader {
  readonly #dependencies: ChainReaderDependencies;
  readonly #genesis: StoredBlockRecord;
  /** By consensus height. */
  readonly #cache = new BlockCache<StoredBlockRecord>(CACHE_OPTIONS);
  /** Most reads ask for it: it is not looked up again until there is another. */
  #latest: StoredBlockRecord | undefined;

  constructor(dependencies: ChainReaderDependencies) {
    this.#dependencies = dependencies;
    this.#genesis = StoredBlockRecord.ofGenesis(dependencies.genesisBlock);
  }

  latestBlock(): StoredBlockRecord {
    const { number } = this.#dependencies.published;
    if (this.#latest?.header.number === number) return this.#latest;
    const latest = this.blockByNumber(number);
    invariant(latest !== undefined, "a published block is in the store");
    this.#latest = latest;
    return latest;
  }

  blockByNumber(number: bigint): StoredBlockRecord | undefined {
    const { executor, published } = this.#dependencies;
    if (number < 0n || number > published.number) return undefined;
    if (number === 0n) return this.#genesis;
    const found = executor.index.find(number);
    return found === undefined ? undefined : this.#load(found.height);
  }

  blockByHash(hash: Uint8Array): StoredBlockRecord | undefined {
    const { blocks, published } = this.#dependencies;
    if (equalBytes(hash, this.#genesis.hash)) return this.#genesis;
    const height = blocks.heightOf(hash);
    if (height === undefined || height > published.height) return undefined;
    return this.#load(height);
  }

  transactionsOf(block: NamedBlock): readonly BlockTransaction[] | undefined {
    return this.#own(block)?.transactions;
  }

  receiptsOf(block: NamedBlock): readonly Receipt[] | undefined {
    return this.#own(block)?.receipts;
  }

  findTransaction(hash: Uint8Array): LocatedTransaction | undefined {
    const { blocks, published } = this.#dependencies;
    const [funding] = this.#genesis.transactions;
    if (funding !== undefined && equalBytes(hash, funding.hash)) {
      return { block: this.#genesis, index: 0, transaction: funding };
    }
    const position = blocks.positionOf(hash);
    if (position === undefined || position.height > published.height) return undefined;
    const block = this.#load(position.height);
    const transaction = block?.transactions[position.index];
    if (block === undefined || transaction === undefined) return undefined;
    return { block, index: position.index, transaction };
  }

  isFinal(transactionHash: Uint8Array): boolean {
    const position = this.#dependencies.blocks.positionOf(transactionHash);
    return position !== undefined && position.height <= this.#dependencies.published.height;
  }

  /** The state after a block as the machine reads it; undefined if it is not kept. */
  stateReaderAt(number: bigint): StateReader | undefined {
    const { executor, published } = this.#dependencies;
    return number > published.number ? undefined : executor.database.at(number);
  }

  /** The state after the last published block. */
  latestState(): StateReader {
    const { executor, published } = this.#dependencies;
    return this.stateReaderAt(published.number) ?? executor.database;
  }

  stateAt(block: NamedBlock): StateAtBlock | undefined {
    const state = this.#own(block) && this.stateReaderAt(block.header.number);
    if (state === undefined) return undefined;
    return {
      balance: (address) => state.account(address)?.balance ?? 0n,
      nonce: (address) => state.account(address)?.nonce ?? 0n,
      code: (address) => {
        const account = state.account(address);
        return account === undefined ? new Uint8Array(0) : state.code(account.codeHash).bytes;
      },
      storage: (address, slot) => state.storage(address, slot),
    };
  }

  /** Undefined if it is not kept. Block 0 has none: it is final by definition. */
  certificateOf(number: bigint): BlockCertificate | undefined {
    const { executor, blocks, published } = this.#dependencies;
    const found = number > published.number ? undefined : executor.index.find(number);
    if (found === undefined || number === 0n) return undefined;
    return certificateAt(blocks, executor.genesis.net, found.height);
  }

  /** The hash of a published block, for BLOCKHASH. */
  hashOf(number: bigint): Uint8Array {
    const found = this.#dependencies.executor.index.find(number);
    invariant(found !== undefined, "every block of the chain is known by its number");
    return found.hash;
  }

  #own(block: NamedBlock): StoredBlockRecord | undefined {
    if (block instanceof StoredBlockRecord) return block;
    const found = this.blockByNumber(block.header.number);
    return found !== undefined && equalBytes(found.hash, block.hash) ? found : undefined;
  }

  #load(height: number): StoredBlockRecord | undefined {
    const cached = this.#cache.get(height);
    if (cached !== undefined) return cached;
    const { blocks } = this.#dependencies;
    const ethereumBlock = blocks.get(height, "ethereumBlock");
    const receipts = blocks.get(height, "receipts");
    if (ethereumBlock === undefined || receipts === undefined) return undefined;
    const record = StoredBlockRecord.decode({ ethereumBlock, receipts });
    this.#cache.add(height, record);
    return record;
  }
}

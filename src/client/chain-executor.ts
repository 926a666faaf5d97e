/**
 * Executes final blocks of the consensus chain on the client node's own state, which keeps its
 * past. Nothing reaches the disk but by `flush`, which the follower calls only when replicas have signed
 * the same results: a state that went wrong is gone with its process.
 */
import { CodedError } from "../base/coded-error.ts";
import { hexToBytes } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import type { Block } from "../chain/block.ts";
import { createGenesisBlock, type GenesisBlock } from "../chain/genesis-block.ts";
import { genesisHash, type GenesisConfig } from "../chain/genesis.ts";
import type { Receipt } from "../chain/receipt.ts";
import {
  recoverAuthority,
  recoverTransaction,
  type RecoveredTransaction,
} from "../chain/transaction-sender.ts";
import { authorizationListOf } from "../chain/transaction.ts";
import type { Block as ConsensusBlock, Transaction } from "../consensus/block.ts";
import { AnalyzedCodeCache } from "../evm/analyzed-code.ts";
import type { ChainRules } from "../execution/engine.ts";
import {
  executeBatch,
  type BatchResult,
  type DroppedTransaction,
} from "../execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../execution/genesis-state.ts";
import { permissionPolicyOf, type PermissionPolicy } from "../execution/permission-policy.ts";
import { resultHash } from "../execution/result-hash.ts";
import { StateDatabase } from "../state/state-database.ts";
import type { StateChange, StateStore } from "../storage/state-store.ts";
import type { AccountState } from "../txpool/tx-pool.ts";
import {
  assertGenesis,
  genesisRecord,
  headRecord,
  numberRecord,
  readGenesisRecord,
  readHead,
  readNumberRecord,
  type ChainHead,
  type GenesisRecord,
  type NumberRecord,
} from "./chain-records.ts";

export type ChainExecutorOptions = {
  readonly genesis: GenesisConfig;
  readonly contracts: readonly PredeployedContract[];
  readonly genesisBlockHash: Uint8Array | undefined;
};

/** An Ethereum block that was just made. */
export type NewBlock = {
  readonly block: Block;
  readonly hash: Uint8Array;
  readonly transactions: readonly RecoveredTransaction[];
  readonly receipts: readonly Receipt[];
};

export type ExecutedHeight = {
  readonly height: number;
  readonly consensusHash: Uint8Array;
  readonly result: Uint8Array;
  /** Undefined if the batch made no Ethereum block. */
  readonly block: NewBlock | undefined;
  /** The last Ethereum block so far. */
  readonly number: bigint;
  readonly dropped: readonly DroppedTransaction[];
  /** Those that sent, were sent to or signed an authorization, as this height left them. */
  readonly accounts: readonly AccountState[];
};

const CODE_CACHE_BYTES = 16_000_000;
const PENDING_KEYS_MAX = 50_000;

export class ChainExecutor {
  readonly database: StateDatabase;
  readonly rules: ChainRules;
  readonly codes = new AnalyzedCodeCache(CODE_CACHE_BYTES);
  readonly genesis: GenesisRecord;
  readonly genesisBlock: GenesisBlock;
  /** Undefined where everyone may write. */
  readonly permits: PermissionPolicy | undefined;
  readonly #store: StateStore;
  /** Records of the heights since the last flush, which go with the state of those heights. */
  #records: StateChange[] = [];
  /** Of the same heights, by block number. */
  readonly #unwritten = new Map<bigint, NumberRecord>();
  #head: ChainHead;
  #height: number;
  #writtenHeight: number;

  /** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
  constructor(options: ChainExecutorOptions, store: StateStore) {
    const { genesis, contracts } = options;
    this.#store = store;
    this.permits = permissionPolicyOf(genesis);
    this.#height = store.height ?? 0;
    this.#writtenHeight = this.#height;
    this.rules = {
      chainId: genesis.chainId,
      fork: "prague",
      transactionGasMax: genesis.transactionGasMax,
      baseFee: 0n,
    };
    const expected = { net: genesisHash(genesis), blockHash: options.genesisBlockHash };
    const known = readGenesisRecord(store);
    if (known !== undefined) assertGenesis(expected, known);
    const state = { keepsHistory: true, pendingKeysMax: Number.MAX_SAFE_INTEGER };
    this.database = new StateDatabase(state, {
      get: (key) => store.get(key),
      seek: (from) => store.seek(from),
      write: (changes) => this.#write(changes),
    });
    if (known === undefined) {
      this.genesisBlock = this.#makeGenesis(genesis, contracts, expected);
    } else {
      const stateRoot = this.database.stateRootAt(0n);
      if (stateRoot === undefined) throw new CodedError("STATE_CORRUPT", { block: 0n });
      this.genesisBlock = createGenesisBlock(genesis, stateRoot);
    }
    const { block, hash } = this.genesisBlock;
    this.genesis = { net: expected.net, blockHash: hash, result: resultHash(block.header, hash) };
    assertGenesis(known ?? expected, this.genesis);
    this.#head = readHead(store);
    if (this.database.latestBlock !== this.#head.header.number) {
      throw new CodedError("STATE_CORRUPT", { block: this.#head.header.number });
    }
  }

  /** The consensus height whose state this is. */
  get height(): number {
    return this.#height;
  }

  /** The height that a restart would go on from. */
  get writtenHeight(): number {
    return this.#writtenHeight;
  }

  get head(): ChainHead {
    return this.#head;
  }

  get isFlushUrgent(): boolean {
    return this.database.pendingKeyCount > PENDING_KEYS_MAX;
  }

  /** Where a block number is to be found; undefined if no block has it yet. */
  find(number: bigint): NumberRecord | undefined {
    return this.#unwritten.get(number) ?? readNumberRecord(this.#store, number);
  }

  /** `known` answers for transactions whose sender was recovered before. Throws DISK_FULL. */
  execute(
    block: ConsensusBlock,
    known: (transaction: Transaction) => RecoveredTransaction | undefined,
  ): ExecutedHeight {
    const { hash, header, body } = block;
    invariant(header.height === this.#height + 1, "heights are executed in order");
    // One that cannot be recovered got no vote of a correct replica: it counts as not there.
    const transactions = body.transactions.flatMap((transaction) => {
      const before = known(transaction);
      if (before !== undefined) return before;
      const fresh = recoverTransaction(transaction.bytes);
      return fresh.ok ? fresh.value : [];
    });
    const consensusHash = hexToBytes(hash);
    const result = executeBatch(
      { transactions, consensusHash, timestampMs: header.timestampMs },
      this.#head,
      this.rules,
      {
        database: this.database,
        blockHash: (number) => this.#blockHash(number),
        permits: this.permits,
        codes: this.codes,
      },
    );
    this.#note(header.height, result);
    return this.#report(header.height, consensusHash, transactions, result);
  }

  /** Writes all that was executed, in one transaction. Throws DISK_FULL; try again later then. */
  flush(): void {
    if (this.database.pendingKeyCount > 0) this.database.flush();
    else if (this.#height > this.#writtenHeight) this.#write([]);
  }

  #note(height: number, { block }: BatchResult): void {
    this.#height = height;
    if (block === undefined) return;
    const { hash } = block;
    const { header } = block.block;
    this.#head = { header, hash };
    this.#unwritten.set(header.number, { height, hash });
    this.#records.push(headRecord(this.#head), numberRecord(header.number, { height, hash }));
  }

  #report(
    height: number,
    consensusHash: Uint8Array,
    transactions: readonly RecoveredTransaction[],
    { included, dropped, block, resultHash: result }: BatchResult,
  ): ExecutedHeight {
    const record =
      block === undefined
        ? undefined
        : {
            ...block,
            transactions: included.map(({ transaction }) => transaction),
            receipts: included.map(({ receipt }) => receipt),
          };
    return {
      height,
      consensusHash,
      result,
      block: record,
      number: this.#head.header.number,
      dropped,
      accounts: this.#touchedAccounts(transactions),
    };
  }

  /** What a pool goes on from. Who was paid by a contract is not among them. */
  #touchedAccounts(transactions: readonly RecoveredTransaction[]): AccountState[] {
    const addresses = new Set<bigint>();
    for (const { sender, transaction } of transactions) {
      addresses.add(sender);
      if (transaction.to !== undefined) addresses.add(transaction.to);
      for (const authorization of authorizationListOf(transaction)) {
        const authority = recoverAuthority(authorization, this.rules.chainId);
        if (authority !== undefined) addresses.add(authority);
      }
    }
    return Array.from(addresses, (address) => {
      const account = this.database.account(address);
      return { address, nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n };
    });
  }

  #write(changes: readonly StateChange[]): void {
    this.#store.write([...changes, ...this.#records], this.#height);
    this.#records = [];
    this.#unwritten.clear();
    this.#writtenHeight = this.#height;
  }

  #blockHash(number: bigint): Uint8Array {
    const found = this.find(number);
    invariant(found !== undefined, "every block of the chain is known by its number");
    return found.hash;
  }

  /** Block 0 from the configuration, written before anything else can be. */
  #makeGenesis(
    genesis: GenesisConfig,
    contracts: readonly PredeployedContract[],
    expected: { readonly net: Uint8Array; readonly blockHash: Uint8Array | undefined },
  ): GenesisBlock {
    if (this.database.latestBlock !== undefined) throw new CodedError("STATE_CORRUPT", {});
    const made = buildGenesis(genesis, contracts, this.database);
    const { hash } = made;
    const { header } = made.block;
    const record = { net: expected.net, blockHash: hash, result: resultHash(header, hash) };
    assertGenesis(expected, record);
    this.#records.push(
      genesisRecord(record),
      headRecord({ header, hash }),
      numberRecord(0n, { height: 0, hash }),
    );
    this.flush();
    return made;
  }
}

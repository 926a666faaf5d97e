/**
 * Executes final blocks of the consensus chain on the client node's own state, which keeps its
 * past. Nothing reaches the disk but by `flush`, which the follower calls only when replicas have signed
 * the same results: a state that went wrong is gone with its process.
 */
import { CodedError } from "../../base/coded-error.ts";
import { hexToBytes } from "../../base/hex.ts";
import type { Block } from "../../chain/block.ts";
import { createGenesisBlock, type GenesisBlock } from "../../chain/genesis-block.ts";
import type { Receipt } from "../../chain/receipt.ts";
import {
  recoverAuthority,
  recoverTransaction,
  type RecoveredTransaction,
} from "../../chain/transaction-sender.ts";
import { authorizationListOf } from "../../chain/transaction.ts";
import type { Block as ConsensusBlock, Transaction } from "../../consensus/block.ts";
import type { AnalyzedCodeCache } from "../../evm/analyzed-code.ts";
import type { ChainRules } from "../../execution/engine.ts";
import type { BatchResult, DroppedTransaction } from "../../execution/execute-batch.ts";
import type { PermissionPolicy } from "../../execution/permission-policy.ts";
import { assertGenesis, type ChainHead, type GenesisRecord } from "../../ledger/chain-records.ts";
import { Ledger, type LedgerOptions } from "../../ledger/ledger.ts";
import type { StateDatabase, StateMark } from "../../state/state-database.ts";
import type { StateStore } from "../../storage/state-store.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";
import { BlockNumbers, type NumberRecord } from "./block-numbers.ts";
import type { StateUpdate } from "../reads/read-worker.ts";

export type ChainExecutorOptions = Omit<LedgerOptions, "keepsHistory">;

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

export class ChainExecutor {
  readonly genesisBlock: GenesisBlock;
  readonly #ledger: Ledger;
  readonly #numbers: BlockNumbers;

  /** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
  constructor(options: ChainExecutorOptions, store: StateStore) {
    this.#numbers = new BlockNumbers(store);
    this.#ledger = new Ledger({ ...options, keepsHistory: true }, store, this.#numbers);
    const stateRoot = this.database.stateRootAt(0n);
    if (stateRoot === undefined) throw new CodedError("STATE_CORRUPT", { block: 0n });
    this.genesisBlock = createGenesisBlock(options.genesis, stateRoot);
    assertGenesis(this.genesis, { net: this.genesis.net, blockHash: this.genesisBlock.hash });
  }

  get database(): StateDatabase {
    return this.#ledger.database;
  }

  get rules(): ChainRules {
    return this.#ledger.rules;
  }

  /** Who may write; undefined where everyone may. */
  get permits(): PermissionPolicy | undefined {
    return this.#ledger.permits;
  }

  get codes(): AnalyzedCodeCache {
    return this.#ledger.codes;
  }

  get genesis(): GenesisRecord {
    return this.#ledger.genesis;
  }

  /** The consensus height whose state this is. */
  get height(): number {
    return this.#ledger.height;
  }

  /** The height that a restart would go on from. */
  get writtenHeight(): number {
    return this.#ledger.writtenHeight;
  }

  get head(): ChainHead {
    return this.#ledger.head;
  }

  get isFlushUrgent(): boolean {
    return this.#ledger.isFlushUrgent;
  }

  /** Where a block number is to be found; undefined if no block has it yet. */
  find(number: bigint): NumberRecord | undefined {
    return this.#numbers.find(number);
  }

  /** What a thread that reads beside this one must be told (read-worker.ts). */
  unwritten(since: StateMark | undefined): StateUpdate & { readonly mark: StateMark } {
    const { database } = this.#ledger;
    const unwritten = database.unwritten(since);
    const { mark } = database;
    const isWritten = since !== undefined && since.flushCount !== mark.flushCount;
    return { unwritten, isWritten, hashes: this.#numbers.unwrittenHashes(), mark };
  }

  /** `known` answers for transactions whose sender was recovered before. Throws DISK_FULL. */
  execute(
    block: ConsensusBlock,
    known: (transaction: Transaction) => RecoveredTransaction | undefined,
  ): ExecutedHeight {
    // One that cannot be recovered got no vote of a correct replica: it counts as not there.
    const transactions = block.body.transactions.flatMap((transaction) => {
      const before = known(transaction);
      if (before !== undefined) return before;
      const fresh = recoverTransaction(transaction.bytes);
      return fresh.ok ? fresh.value : [];
    });
    const result = this.#ledger.execute(block, transactions);
    return this.#report(block.header.height, hexToBytes(block.hash), transactions, result);
  }

  /** Writes all that was executed, in one transaction. Throws DISK_FULL; try again later then. */
  flush(): void {
    this.#ledger.flush();
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
      number: this.head.header.number,
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
    return Array.from(addresses, (address) => this.#ledger.account(address));
  }
}

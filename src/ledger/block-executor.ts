/**
 * The block executor that replicas and client nodes share: executes the heights of the consensus
 * chain in order on the node's own state, and writes state and records together, so that after a
 * crash both are of one height. The kinds of node differ in two options: whether earlier states can
 * be read (`keepsHistory`), and what else is kept of the past (`LedgerIndex`).
 *
 * Hashes are bytes in this folder. A consensus block brings its hash as text, which is converted
 * here and nowhere else.
 */
import { CodedError } from "../base/coded-error.ts";
import { hexToBytes } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import { chainRules, type ChainRules } from "../chain/chain-rules.ts";
import { genesisHash, type GenesisConfig } from "../chain/genesis.ts";
import type { Header } from "../chain/header.ts";
import { recoverTransaction, type RecoveredTransaction } from "../chain/transaction-sender.ts";
import type { Block as ConsensusBlock, Transaction } from "../consensus/block.ts";
import { AnalyzedCodeCache } from "../evm/analyzed-code.ts";
import { executeBatch, type BatchResult } from "../execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../execution/genesis-state.ts";
import { permissionPolicyOf, type PermissionPolicy } from "../execution/permission-policy.ts";
import { resultHash } from "../execution/result-hash.ts";
import { checkPermission } from "../execution/state-validity.ts";
import type { TransactionRequest } from "../execution/transaction-request.ts";
import { Journal } from "../state/journal.ts";
import { StateDatabase } from "../state/state-database.ts";
import type { StateChange, StateStore } from "../storage/state-store.ts";
import type { AccountState } from "../txpool/tx-pool.ts";
import {
  assertGenesis,
  genesisRecord,
  headRecord,
  readGenesisRecord,
  readHead,
  type ChainHead,
  type GenesisRecord,
} from "./chain-records.ts";
import { newBlockOf, touchedAddresses, type ExecutedHeight } from "./executed-height.ts";
import type { LedgerIndex } from "./ledger-index.ts";

export type BlockExecutorOptions = {
  readonly genesis: GenesisConfig;
  readonly contracts: readonly PredeployedContract[];
  /** Of block 0, if it is known from elsewhere. */
  readonly genesisBlockHash: Uint8Array | undefined;
  /** Whether the states of earlier blocks can be read. */
  readonly keepsHistory: boolean;
};

export type BlockExecutorDependencies<Index extends LedgerIndex> = {
  readonly store: StateStore;
  readonly index: Index;
};

/** Answers for a transaction whose sender was recovered before; undefined for any other. */
export type KnownTransaction = (
  transaction: Transaction,
  position: number,
) => RecoveredTransaction | undefined;

const CODE_CACHE_BYTES = 64_000_000;
/** Above all else that waits this many keys are written at once, however recent they are. */
const PENDING_KEYS_MAX = 50_000;

export class BlockExecutor<Index extends LedgerIndex = LedgerIndex> {
  readonly database: StateDatabase;
  readonly rules: ChainRules;
  /** Decides which senders may write; undefined where all may. */
  readonly permits: PermissionPolicy | undefined;
  readonly codes = new AnalyzedCodeCache(CODE_CACHE_BYTES);
  readonly genesis: GenesisRecord;
  readonly index: Index;
  readonly #store: StateStore;
  /** Records of the heights since the last flush, which go with the state of those heights. */
  #records: StateChange[] = [];
  #head: ChainHead;
  #height: number;
  #writtenHeight: number;

  /** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
  constructor(options: BlockExecutorOptions, dependencies: BlockExecutorDependencies<Index>) {
    const { genesis, contracts, keepsHistory } = options;
    const { store, index } = dependencies;
    this.#store = store;
    this.index = index;
    this.permits = permissionPolicyOf(genesis);
    this.#height = store.height ?? 0;
    this.#writtenHeight = this.#height;
    this.rules = chainRules(genesis);
    const expected = { net: genesisHash(genesis), blockHash: options.genesisBlockHash };
    const known = readGenesisRecord(store);
    if (known !== undefined) assertGenesis(expected, known);
    // No flush but ours and the one before a storage is cleared: both find the state at the end of
    // a height, so the marker that goes with them is true.
    const state = { keepsHistory, pendingKeysMax: Number.MAX_SAFE_INTEGER };
    this.database = new StateDatabase(state, {
      get: (key) => store.get(key),
      seek: (from) => store.seek(from),
      write: (changes) => this.#write(changes),
    });
    this.genesis = known ?? this.#makeGenesis(genesis, contracts, expected);
    this.#head = readHead(store);
    if (this.database.latestBlock !== this.#head.header.number) {
      throw new CodedError("STATE_CORRUPT", { block: this.#head.header.number });
    }
    index.open(this.#head);
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

  /** Whether a flush has something to write. */
  get hasUnwritten(): boolean {
    return this.#height > this.#writtenHeight;
  }

  get isFlushUrgent(): boolean {
    return this.database.pendingKeyCount > PENDING_KEYS_MAX;
  }

  account(address: bigint): AccountState {
    const account = this.database.account(address);
    return { address, nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n };
  }

  /** Whether the sender may write, on the state as it is. */
  isPermitted(request: TransactionRequest): boolean {
    return checkPermission(this.permits, new Journal(this.database), request) === undefined;
  }

  /** Executes the next height. Throws DISK_FULL with nothing changed. */
  execute({ hash, header, body }: ConsensusBlock, known: KnownTransaction): ExecutedHeight {
    const { height, timestampMs } = header;
    invariant(height === this.#height + 1, "heights are executed in order");
    const transactions = recoverAll(body.transactions, known);
    const consensusHash = hexToBytes(hash);
    const executed = executeBatch(
      { transactions, consensusHash, timestampMs },
      this.#head,
      this.rules,
      {
        database: this.database,
        blockHash: (number) => this.#blockHash(number),
        permits: this.permits,
        codes: this.codes,
      },
    );
    this.#note(height, executed);
    const { included, dropped, resultHash: result } = executed;
    return {
      height,
      consensusHash,
      result,
      block: newBlockOf(executed),
      number: this.#head.header.number,
      dropped,
      accounts: Array.from(touchedAddresses(transactions, included), (one) => this.account(one)),
    };
  }

  /** Writes all that was executed, in one transaction. Throws DISK_FULL; try again later then. */
  flush(): void {
    if (this.database.pendingKeyCount > 0) this.database.flush();
    else if (this.hasUnwritten) this.#write([]);
  }

  #note(height: number, { block, resultHash: result }: BatchResult): void {
    this.#height = height;
    const head = block === undefined ? undefined : { header: block.block.header, hash: block.hash };
    if (head !== undefined) {
      this.#head = head;
      this.#records.push(headRecord(head));
    }
    this.#records.push(...this.index.note({ height, result, head }));
  }

  #write(changes: readonly StateChange[]): void {
    this.#store.write([...changes, ...this.#records], this.#height);
    this.#records = [];
    this.index.onWritten();
    this.#writtenHeight = this.#height;
  }

  #blockHash(number: bigint): Uint8Array {
    const hash = this.index.blockHash(number);
    invariant(hash !== undefined, "the hashes of the last 256 blocks are known");
    return hash;
  }

  /** Block 0 from the configuration, written before anything else can be. */
  #makeGenesis(
    genesis: GenesisConfig,
    contracts: readonly PredeployedContract[],
    expected: { readonly net: Uint8Array; readonly blockHash: Uint8Array | undefined },
  ): GenesisRecord {
    if (this.database.latestBlock !== undefined) throw new CodedError("STATE_CORRUPT", {});
    const { block, hash } = buildGenesis(genesis, contracts, this.database);
    const head: { header: Header; hash: Uint8Array } = { header: block.header, hash };
    const result = resultHash(head.header, hash);
    const record = { net: expected.net, blockHash: hash, result };
    assertGenesis(expected, record);
    this.#records.push(
      genesisRecord(record),
      headRecord(head),
      ...this.index.note({ height: 0, result, head }),
    );
    this.flush();
    return record;
  }
}

/** A transaction without a sender got no vote of a correct replica: every node leaves it out. */
function recoverAll(
  transactions: readonly Transaction[],
  known: KnownTransaction,
): RecoveredTransaction[] {
  return transactions.flatMap((transaction, position) => {
    const before = known(transaction, position);
    if (before !== undefined) return before;
    const fresh = recoverTransaction(transaction.bytes);
    return fresh.ok ? fresh.value : [];
  });
}

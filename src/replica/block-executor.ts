/**
 * Executes final blocks of the consensus chain in order on the state of this node, and remembers
 * how far it came. Synchronous: it has a thread of its own (execution-worker.ts).
 */
import { readBigEndian } from "../base/big-endian.ts";
import { CodedError } from "../base/coded-error.ts";
import { hexToBytes } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import { genesisHash, type GenesisConfig } from "../chain/genesis.ts";
import { recoverTransaction, type RecoveredTransaction } from "../chain/transaction-sender.ts";
import { decodeTransaction } from "../chain/transaction-decoder.ts";
import type { Transaction } from "../consensus/block.ts";
import { AnalyzedCodeCache } from "../evm/analyzed-code.ts";
import type { ChainRules } from "../execution/engine.ts";
import { executeBatch, type BatchResult } from "../execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../execution/genesis-state.ts";
import { isRetryable, type DropCode } from "../execution/drop-reason.ts";
import { permissionPolicyOf, type PermissionPolicy } from "../execution/permission-policy.ts";
import { resultHash } from "../execution/result-hash.ts";
import { StateDatabase } from "../state/state-database.ts";
import type { StateChange, StateStore } from "../storage/state-store.ts";
import { decodeBlock } from "../wire/block-bytes.ts";
import {
  assertGenesis,
  blockHashRecord,
  genesisRecord,
  headRecord,
  readBlockHashes,
  readGenesisRecord,
  readHead,
  readResults,
  resultRecord,
  RING_SIZE,
  type ChainHead,
  type GenesisRecord,
} from "./chain-records.ts";

export type ExecutorOptions = {
  readonly genesis: GenesisConfig;
  readonly contracts: readonly PredeployedContract[];
  /** Of block 0, if it is known from elsewhere. */
  readonly genesisBlockHash: Uint8Array | undefined;
};

export type AccountState = {
  readonly address: bigint;
  readonly nonce: bigint;
  readonly balance: bigint;
};

export type Drop = {
  readonly id: Uint8Array;
  readonly code: DropCode;
  /** The transaction itself if it may be included later. */
  readonly retry: Uint8Array | undefined;
};

export type ExecutedHeight = {
  readonly height: number;
  readonly result: Uint8Array;
  /** The last Ethereum block so far. */
  readonly blockNumber: bigint;
  readonly drops: readonly Drop[];
  readonly included: readonly Uint8Array[];
  /** Those that sent or were sent to, as they are now: what a pool goes on from. */
  readonly accounts: readonly AccountState[];
  /** Further nonces may have changed: an authorization (EIP-7702) uses up one of its signer. */
  readonly hasAuthorizations: boolean;
};

export const ADDRESS_SIZE = 20;
const CODE_CACHE_BYTES = 16_000_000;
/** Above all else that waits this many keys are written at once, however recent they are. */
const PENDING_KEYS_MAX = 50_000;

export class BlockExecutor {
  readonly #store: StateStore;
  readonly #rules: ChainRules;
  readonly #permits: PermissionPolicy | undefined;
  readonly #database: StateDatabase;
  readonly #codes = new AnalyzedCodeCache(CODE_CACHE_BYTES);
  readonly #blockHashes: Map<bigint, Uint8Array>;
  /** Records of the heights since the last flush, which go with the state of those heights. */
  #records: StateChange[] = [];
  #head: ChainHead;
  #height: number;
  readonly genesis: GenesisRecord;

  /** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
  constructor(options: ExecutorOptions, store: StateStore) {
    const { genesis, contracts } = options;
    this.#store = store;
    this.#height = store.height ?? 0;
    this.#permits = permissionPolicyOf(genesis);
    this.#rules = {
      chainId: genesis.chainId,
      fork: "prague",
      transactionGasMax: genesis.transactionGasMax,
      baseFee: 0n,
    };
    const expected = { net: genesisHash(genesis), blockHash: options.genesisBlockHash };
    const known = readGenesisRecord(store);
    if (known !== undefined) assertGenesis(expected, known);
    // No flush but ours and the one before a storage is cleared: both find the state at the end of
    // a height, so the marker that goes with them is true.
    const state = { keepsHistory: false, pendingKeysMax: Number.MAX_SAFE_INTEGER };
    this.#database = new StateDatabase(state, {
      get: (key) => store.get(key),
      seek: (from) => store.seek(from),
      write: (changes) => this.#write(changes),
    });
    this.genesis = known ?? this.#makeGenesis(genesis, contracts, expected);
    this.#head = readHead(store);
    if (this.#database.latestBlock !== this.#head.header.number) {
      throw new CodedError("STATE_CORRUPT", { block: this.#head.header.number });
    }
    this.#blockHashes = readBlockHashes(store, this.#head.header.number);
  }

  /** The consensus height whose state this is. */
  get height(): number {
    return this.#height;
  }

  get blockNumber(): bigint {
    return this.#head.header.number;
  }

  get stateRoot(): Uint8Array {
    return this.#database.stateRoot;
  }

  get isFlushUrgent(): boolean {
    return this.#database.pendingKeyCount > PENDING_KEYS_MAX;
  }

  get hasUnwritten(): boolean {
    return this.#records.length > 0;
  }

  /** Of the last heights that the store knows, lowest first. */
  storedResults(): Map<number, Uint8Array> {
    return readResults(this.#store, this.#height);
  }

  account(address: bigint): AccountState {
    const account = this.#database.account(address);
    return { address, nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n };
  }

  /**
   * Executes the next height. `senders` holds the addresses that are known already, 20 bytes each
   * and zeros for the others. Throws DISK_FULL with nothing changed.
   */
  execute(bytes: Uint8Array, senders: Uint8Array | undefined): ExecutedHeight {
    const decoded = decodeBlock(bytes);
    invariant(decoded.ok, "the store gives back what was put in");
    const { hash, header, body } = decoded.value;
    invariant(header.height === this.#height + 1, "heights are executed in order");
    const transactions = body.transactions.flatMap(
      (transaction, index) => recovered(transaction, senders, index) ?? [],
    );
    const result = executeBatch(
      { transactions, consensusHash: hexToBytes(hash), timestampMs: header.timestampMs },
      this.#head,
      this.#rules,
      {
        database: this.#database,
        blockHash: (number) => this.#blockHash(number),
        permits: this.#permits,
        codes: this.#codes,
      },
    );
    this.#note(header.height, result);
    return this.#report(header.height, transactions, result);
  }

  /** Writes all that was executed, in one transaction. Throws DISK_FULL; try again later then. */
  flush(): void {
    if (this.#database.pendingKeyCount > 0) this.#database.flush();
    else if (this.#records.length > 0) this.#write([]);
  }

  #report(
    height: number,
    transactions: readonly RecoveredTransaction[],
    { included, dropped, resultHash: result }: BatchResult,
  ): ExecutedHeight {
    const addresses = new Set(transactions.map(({ sender }) => sender));
    for (const { transaction } of transactions) {
      if (transaction.to !== undefined) addresses.add(transaction.to);
    }
    return {
      height,
      result,
      blockNumber: this.#head.header.number,
      included: included.map(({ transaction }) => transaction.hash),
      drops: dropped.map(({ transaction, reason: { code } }) => {
        const retry = isRetryable(code) ? Uint8Array.from(transaction.encoded) : undefined;
        return { id: transaction.hash, code, retry };
      }),
      accounts: Array.from(addresses, (address) => this.account(address)),
      hasAuthorizations: transactions.some(({ transaction }) => transaction.type === 4),
    };
  }

  #note(height: number, { block, resultHash: result }: BatchResult): void {
    this.#height = height;
    if (block !== undefined) {
      const { header } = block.block;
      this.#head = { header, hash: block.hash };
      this.#blockHashes.set(header.number, block.hash);
      this.#blockHashes.delete(header.number - BigInt(RING_SIZE));
      this.#records.push(headRecord(this.#head), blockHashRecord(header.number, block.hash));
    }
    this.#records.push(resultRecord(height, result));
  }

  #write(changes: readonly StateChange[]): void {
    this.#store.write([...changes, ...this.#records], this.#height);
    this.#records = [];
  }

  #blockHash(number: bigint): Uint8Array {
    const hash = this.#blockHashes.get(number);
    invariant(hash !== undefined, "the hashes of the last 256 blocks are known");
    return hash;
  }

  /** Block 0 from the configuration, written before anything else can be. */
  #makeGenesis(
    genesis: GenesisConfig,
    contracts: readonly PredeployedContract[],
    expected: { readonly net: Uint8Array; readonly blockHash: Uint8Array | undefined },
  ): GenesisRecord {
    if (this.#database.latestBlock !== undefined) throw new CodedError("STATE_CORRUPT", {});
    const { block, hash } = buildGenesis(genesis, contracts, this.#database);
    const { header } = block;
    const record = { net: expected.net, blockHash: hash, result: resultHash(header, hash) };
    assertGenesis(expected, record);
    this.#records.push(
      genesisRecord(record),
      headRecord({ header, hash }),
      blockHashRecord(0n, hash),
      resultRecord(0, record.result),
    );
    this.flush();
    return record;
  }
}

/** Undefined for one that no correct replica voted for: it counts as not there, everywhere. */
function recovered(
  { id, bytes }: Transaction,
  senders: Uint8Array | undefined,
  index: number,
): RecoveredTransaction | undefined {
  const isKnown = senders !== undefined && senders.length >= (index + 1) * ADDRESS_SIZE;
  const sender = isKnown ? readBigEndian(senders, index * ADDRESS_SIZE, ADDRESS_SIZE) : 0n;
  if (sender === 0n) {
    const fresh = recoverTransaction(bytes);
    return fresh.ok ? fresh.value : undefined;
  }
  const transaction = decodeTransaction(bytes);
  if (!transaction.ok) return undefined;
  return { transaction: transaction.value, encoded: bytes, hash: hexToBytes(id), sender };
}

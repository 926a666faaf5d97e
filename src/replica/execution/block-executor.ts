/**
 * Executes final blocks of the consensus chain in order on the state of this node, and remembers
 * how far it came. Synchronous: it has a thread of its own (execution-worker.ts).
 */
import { readBigEndian } from "../../base/big-endian.ts";
import { hexToBytes } from "../../base/hex.ts";
import { invariant } from "../../base/invariant.ts";
import type { GenesisConfig } from "../../chain/genesis.ts";
import { recoverTransaction, type RecoveredTransaction } from "../../chain/transaction-sender.ts";
import { decodeTransaction } from "../../chain/transaction-decoder.ts";
import { HASH_SIZE } from "../../crypto/keccak256.ts";
import type { Transaction } from "../../consensus/block.ts";
import type { BatchResult } from "../../execution/execute-batch.ts";
import type { PredeployedContract } from "../../execution/genesis-state.ts";
import { isRetryable, type DropCode } from "../../execution/drop-reason.ts";
import type { GenesisRecord } from "../../ledger/chain-records.ts";
import { Ledger } from "../../ledger/ledger.ts";
import { Journal } from "../../state/journal.ts";
import type { StateStore } from "../../storage/state-store.ts";
import type { AccountState } from "../../txpool/tx-pool.ts";
import { decodeBlockBytes } from "../../wire/block-bytes.ts";
import { readResults, RecentChain } from "./recent-chain.ts";

export type ExecutorOptions = {
  readonly genesis: GenesisConfig;
  readonly contracts: readonly PredeployedContract[];
  /** Of block 0, if it is known from elsewhere. */
  readonly genesisBlockHash: Uint8Array | undefined;
};

export type Drop = {
  readonly id: Uint8Array;
  readonly code: DropCode;
  /** The transaction itself if it may be included later. */
  readonly retry: Uint8Array | undefined;
};

export type ExecutionReport = {
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

/** A transaction whose form and sender are known to be good. */
export type PermissionQuestion = { readonly bytes: Uint8Array; readonly sender: bigint };

const ADDRESS_SIZE = 20;

export class BlockExecutor {
  readonly #store: StateStore;
  readonly #ledger: Ledger;

  /** Makes block 0 in an empty store. Throws STATE_CORRUPT, or GENESIS_MISMATCH. */
  constructor(options: ExecutorOptions, store: StateStore) {
    this.#store = store;
    this.#ledger = new Ledger({ ...options, keepsHistory: false }, store, new RecentChain(store));
  }

  get genesis(): GenesisRecord {
    return this.#ledger.genesis;
  }

  /** The consensus height whose state this is. */
  get height(): number {
    return this.#ledger.height;
  }

  get blockNumber(): bigint {
    return this.#ledger.head.header.number;
  }

  get stateRoot(): Uint8Array {
    return this.#ledger.database.stateRoot;
  }

  get isFlushUrgent(): boolean {
    return this.#ledger.isFlushUrgent;
  }

  get hasUnwritten(): boolean {
    return this.#ledger.height > this.#ledger.writtenHeight;
  }

  /** Of the last heights that the store knows, lowest first. */
  storedResults(): Map<number, Uint8Array> {
    return readResults(this.#store, this.height);
  }

  account(address: bigint): AccountState {
    return this.#ledger.account(address);
  }

  /** On the state as it is; asked only where writes need a right. */
  isPermitted({ bytes, sender }: PermissionQuestion): boolean {
    const { permits, database } = this.#ledger;
    const transaction = decodeTransaction(bytes);
    if (permits === undefined || !transaction.ok) return true;
    return permits(new Journal(database), { transaction: transaction.value, sender });
  }

  /**
   * Executes the next height. `senders` holds the addresses that are known already, 20 bytes each
   * and zeros for the others. Throws DISK_FULL with nothing changed.
   */
  execute(bytes: Uint8Array, senders: Uint8Array | undefined): ExecutionReport {
    const decoded = decodeBlockBytes(bytes);
    invariant(decoded.ok, "the store gives back what was put in");
    const transactions = decoded.value.body.transactions.flatMap(
      (transaction, index) => recovered(transaction, senders, index) ?? [],
    );
    const result = this.#ledger.execute(decoded.value, transactions);
    return this.#report(decoded.value.header.height, transactions, result);
  }

  /** Writes all that was executed, in one transaction. Throws DISK_FULL; try again later then. */
  flush(): void {
    this.#ledger.flush();
  }

  #report(
    height: number,
    transactions: readonly RecoveredTransaction[],
    { included, dropped, resultHash: result }: BatchResult,
  ): ExecutionReport {
    const addresses = new Set(transactions.map(({ sender }) => sender));
    for (const { transaction } of transactions) {
      if (transaction.to !== undefined) addresses.add(transaction.to);
    }
    return {
      height,
      result,
      blockNumber: this.blockNumber,
      included: packHashes(included.map(({ transaction }) => transaction.hash)),
      drops: dropped.map(({ transaction, reason: { code } }) => {
        const retry = isRetryable(code) ? Uint8Array.from(transaction.encoded) : undefined;
        return { id: transaction.hash, code, retry };
      }),
      accounts: Array.from(addresses, (address) => this.account(address)),
      hasAuthorizations: transactions.some(({ transaction }) => transaction.type === 4),
    };
  }
}

/** Windows into one block of memory: the other thread gets that instead of one for each. */
function packHashes(hashes: readonly Uint8Array[]): Uint8Array[] {
  const packed = new Uint8Array(hashes.length * HASH_SIZE);
  return hashes.map((hash, index) => {
    packed.set(hash, index * HASH_SIZE);
    return packed.subarray(index * HASH_SIZE, (index + 1) * HASH_SIZE);
  });
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

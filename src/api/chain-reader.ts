/**
 * What the methods ask of the node. Each method declares the few of these that it needs; the client
 * node implements them over its stores, tests over a chain in memory. Everything that is read is
 * final (SPEC E12): there are no other blocks, and a block never changes. The data types are
 * Ethereum's and declared in src/chain, which both sides import.
 */
import type { Result } from "../base/result.ts";
import type { BlockCertificate } from "./block-certificate.ts";
import type { BlockTransaction } from "../chain/block-transaction.ts";
import type { CallFailure, CallRequest } from "./call-request.ts";
import type { Header } from "../chain/header.ts";
import type { Receipt } from "../chain/receipt.ts";
import type { SimulatedBlock, SimulationRequest } from "./simulation.ts";
import type { SyncProgress } from "./sync-progress.ts";
import type { FlatCallTracerOptions, TraceOptions } from "./trace-options.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import type { SubmitRefusal, TransactionStatus } from "./transaction-status.ts";
import type { AccessList } from "../chain/transaction.ts";
import type { Awaitable } from "./awaitable.ts";

export type BlockRecord = {
  readonly hash: Uint8Array;
  readonly header: Header;
  /** Of the encoded block, in bytes. */
  readonly size: number;
  readonly transactionHashes: readonly Uint8Array[];
};

/** Events of the node. Each returns the function that ends the listening. */
export type ChainEvents = {
  /** Every block from now on, in order, once each. */
  onBlock(listener: (block: BlockRecord) => void): () => void;
  /** Every transaction whose hash was given out. */
  onAccepted(listener: (transaction: RecoveredTransaction) => void): () => void;
};

export type HeadReader = {
  latestBlock(): Awaitable<BlockRecord>;
};

export type BlockReader = HeadReader & {
  blockByNumber(number: bigint): Awaitable<BlockRecord | undefined>;
  blockByHash(hash: Uint8Array): Awaitable<BlockRecord | undefined>;
};

export type TransactionsReader = {
  /** In the order of the block; undefined if they are no longer kept. */
  transactionsOf(block: BlockRecord): Awaitable<readonly BlockTransaction[] | undefined>;
};

export type ReceiptsReader = {
  /** One for each transaction; undefined if they are no longer kept. */
  receiptsOf(block: BlockRecord): Awaitable<readonly Receipt[] | undefined>;
};

export type FoundTransaction = {
  readonly block: BlockRecord;
  readonly index: number;
  readonly transaction: BlockTransaction;
};

export type TransactionFinder = {
  findTransaction(hash: Uint8Array): Awaitable<FoundTransaction | undefined>;
};

export type PendingTransactionReader = {
  /** A transaction that was accepted and is not final yet. */
  pendingTransaction(hash: Uint8Array): Awaitable<RecoveredTransaction | undefined>;
};

export type PendingNonceReader = {
  /** The nonce after all accepted transactions of the sender that follow without a gap. */
  pendingNonce(address: bigint): Awaitable<bigint>;
};

/** Accounts as they are after one block. */
export type StateAt = {
  balance(address: bigint): Awaitable<bigint>;
  nonce(address: bigint): Awaitable<bigint>;
  code(address: bigint): Awaitable<Uint8Array>;
  storage(address: bigint, slot: bigint): Awaitable<bigint>;
};

export type StateAtReader = BlockReader & {
  /** Undefined if the state of that block is no longer kept. */
  stateAt(block: BlockRecord): Awaitable<StateAt | undefined>;
};

/** Under whose name long work waits for its turn; asked only for work that does. */
export type CallerNamer = () => Awaitable<string>;

export type CallRunner = {
  call(
    request: CallRequest,
    block: BlockRecord,
    caller?: CallerNamer,
  ): Awaitable<Result<Uint8Array, CallFailure>>;
};

export type GasEstimator = {
  /** The least gas limit, at most that of the request, with which it succeeds. */
  estimateGas(
    request: CallRequest,
    block: BlockRecord,
    caller?: CallerNamer,
  ): Awaitable<Result<bigint, CallFailure>>;
};

export type AccessListCreator = {
  /** The accounts and slots that the request touches, and the result with that list. */
  createAccessList(
    request: CallRequest,
    block: BlockRecord,
    caller?: CallerNamer,
  ): Awaitable<Result<CreatedAccessList, CallFailure>>;
};

export type CreatedAccessList = {
  readonly accessList: AccessList;
  readonly gasUsed: bigint;
  readonly failure: CallFailure | undefined;
};

export type Prover = {
  prove(
    address: bigint,
    slots: readonly bigint[],
    block: BlockRecord,
    caller?: CallerNamer,
  ): Awaitable<Result<AccountProof, CallFailure>>;
};

/** From the root of the state down to the account, and from its storage root down to the slots. */
export type AccountProof = {
  /** Undefined if the proof shows that there is none. */
  readonly account: ProvedAccount | undefined;
  readonly proof: readonly Uint8Array[];
  readonly storage: readonly {
    readonly slot: bigint;
    readonly value: bigint;
    readonly proof: readonly Uint8Array[];
  }[];
};

export type ProvedAccount = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: bigint;
  readonly storageRoot: bigint;
};

export type Simulator = {
  simulate(
    request: SimulationRequest,
    block: BlockRecord,
    caller?: CallerNamer,
  ): Awaitable<Result<readonly SimulatedBlock[], CallFailure>>;
};

/** Traces are ready JSON text, which is passed on as it is. */
export type TraceReader = {
  traceCall(
    request: CallRequest,
    block: BlockRecord,
    options: TraceOptions,
    caller?: CallerNamer,
  ): Awaitable<Result<string, CallFailure>>;
  /** One for each transaction from the first to the last place; never of block 0. */
  traceTransactions(
    block: BlockRecord,
    places: { readonly first: number; readonly last: number },
    options: TraceOptions,
    caller?: CallerNamer,
  ): Awaitable<Result<readonly string[], CallFailure>>;
  /** The same for traces that are lists: all of their entries, in one list. */
  traceEntries(
    block: BlockRecord,
    places: { readonly first: number; readonly last: number },
    options: FlatCallTracerOptions,
    caller?: CallerNamer,
  ): Awaitable<Result<readonly string[], CallFailure>>;
};

export type CertificateReader = {
  /** Of any block except block 0; undefined if it is no longer kept. */
  certificateOf(number: bigint): Awaitable<BlockCertificate | undefined>;
};

export type StatusReader = {
  /** Undefined for a transaction that was never accepted here or is no longer remembered. */
  transactionStatus(hash: Uint8Array): Awaitable<TransactionStatus | undefined>;
};

export type FinalityWaiter = {
  /** The status once it is final or refused, or as it is when the time is over or it is aborted. */
  whenSettled(
    hash: Uint8Array,
    timeoutMs: number,
    aborted?: AbortSignal,
  ): Promise<TransactionStatus | undefined>;
};

export type Submitter = {
  /**
   * Takes a transaction in network form. The hash acknowledges the transaction (SPEC E13): it is
   * returned once the transaction is durable. One that is known already, or final, returns its hash
   * again. `source` is the submitter, by which the limits of the mempool count.
   */
  submitRaw(
    encoded: Uint8Array,
    source: string | undefined,
  ): Awaitable<Result<Uint8Array, SubmitRefusal>>;
};

/** Transactions of one sender that were accepted and are not final, in the order of nonces. */
export type SenderContent = {
  readonly sender: bigint;
  /** Those that can be ordered now. */
  readonly executable: readonly RecoveredTransaction[];
  /** Those that wait for an earlier nonce. */
  readonly queued: readonly RecoveredTransaction[];
};

export type PoolReader = {
  poolStatus(): Awaitable<{ readonly executable: number; readonly queued: number }>;
  poolContent(): Awaitable<Iterable<SenderContent>>;
  poolContentOf(sender: bigint): Awaitable<SenderContent>;
};

export type PeerReader = {
  /** Replicas that the node has a link to. */
  peerCount(): Awaitable<number>;
};

export type RetentionReader = {
  /** The numbers of the oldest block whose state is kept, and of the oldest that is itself. */
  oldestKept(): Awaitable<{ readonly state: bigint; readonly blocks: bigint }>;
};

export type PriorityFeeReader = {
  /** The least tip per gas that is taken; 0 where gas is free. */
  priorityFee(): Awaitable<bigint>;
};

export type SyncReader = {
  /** Undefined when the node has caught up. */
  syncProgress(): Awaitable<SyncProgress | undefined>;
};

export type NetworkReader = {
  readonly chainId: bigint;
  /** Name, version, platform and runtime, as web3_clientVersion gives them. */
  readonly clientVersion: string;
};

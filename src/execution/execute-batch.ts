/**
 * An ordered batch becomes an Ethereum block: each transaction is included with a receipt or
 * dropped with a reason, the same on every replica. Nothing here reads a clock or a network.
 */
import type { Block } from "../chain/block.ts";
import { mergeBlooms } from "../chain/bloom.ts";
import {
  EMPTY_OMMERS_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  ZERO_HASH,
} from "../chain/hash-constants.ts";
import { type Header, HEADER_NONCE_SIZE, headerHash } from "../chain/header.ts";
import { listRoot } from "../chain/list-root.ts";
import { createReceipt, type Receipt, receiptsRoot } from "../chain/receipt.ts";
import type { RecoveredTransaction } from "../chain/transaction-sender.ts";
import { readBigEndian } from "../base/big-endian.ts";
import type { AnalyzedCodeCache } from "../evm/analyzed-code.ts";
import type { BlockContext } from "../evm/message.ts";
import type { StateDatabase } from "../state/state-database.ts";
import type { DropReason } from "./drop-reason.ts";
import type { ChainRules } from "../chain/chain-rules.ts";
import { createEngine } from "./engine.ts";
import type { PermissionPolicy } from "./permission-policy.ts";
import { SlowWorkMeter } from "./slow-work-meter.ts";
import { resultHash } from "./result-hash.ts";
import { runTransaction, type TransactionEngine } from "./run-transaction.ts";
import type { ExecutedTransaction } from "./transaction-request.ts";

/** What consensus decided. */
export type OrderedBatch = {
  readonly transactions: readonly RecoveredTransaction[];
  /** The hash of the consensus block, which becomes mixHash and PREVRANDAO. */
  readonly consensusHash: Uint8Array;
  readonly timestampMs: number;
};

/** The end of the chain that the batch extends. */
export type ParentBlock = {
  readonly header: Header;
  readonly hash: Uint8Array;
};

export type BatchDependencies = {
  readonly database: StateDatabase;
  /** The hash of a block of this chain; asked only for the 256 before the new one. */
  readonly blockHash: (number: bigint) => Uint8Array;
  readonly permits?: PermissionPolicy | undefined;
  /** Analyses of code, kept from block to block. */
  readonly codes?: AnalyzedCodeCache | undefined;
};

export type BatchResult = {
  readonly included: readonly IncludedTransaction[];
  readonly dropped: readonly DroppedTransaction[];
  /** Undefined if every transaction was dropped: then the state is untouched, too. */
  readonly block: ExecutedBlock | undefined;
  /** What replicas sign: of this block, or of the parent when there is none. */
  readonly resultHash: Uint8Array;
};

export type ExecutedBlock = { readonly block: Block; readonly hash: Uint8Array };

export type IncludedTransaction = {
  readonly transaction: RecoveredTransaction;
  readonly receipt: Receipt;
  readonly execution: ExecutedTransaction;
};

export type DroppedTransaction = {
  readonly transaction: RecoveredTransaction;
  readonly reason: DropReason;
};

/** Executes the batch and commits its block to the state database. */
export function executeBatch(
  batch: OrderedBatch,
  parent: ParentBlock,
  rules: ChainRules,
  dependencies: BatchDependencies,
): BatchResult {
  const { database, codes } = dependencies;
  const context = createBlockContext(batch, parent, rules, dependencies);
  const { transactionGasMax } = rules;
  const meter =
    transactionGasMax === undefined ? undefined : new SlowWorkMeter(Number(transactionGasMax));
  const engine = createEngine(rules, database, { codes, meter });
  const { included, dropped } = runAll(batch, engine, context, dependencies.permits);
  if (included.length === 0) {
    const unchanged = resultHash(parent.header, parent.hash);
    return { included, dropped, block: undefined, resultHash: unchanged };
  }
  const stateRoot = database.commit(context.number, engine.journal.blockChanges());
  const block = buildBlock(batch, parent, context, included, stateRoot);
  const hash = headerHash(block.header);
  return { included, dropped, block: { block, hash }, resultHash: resultHash(block.header, hash) };
}

function runAll(
  batch: OrderedBatch,
  engine: TransactionEngine,
  context: BlockContext,
  permits: PermissionPolicy | undefined,
): Pick<BatchResult, "included" | "dropped"> {
  const included: IncludedTransaction[] = [];
  const dropped: DroppedTransaction[] = [];
  let gasUsed = 0n;
  for (const transaction of batch.transactions) {
    const gasLeft = context.gasLimit - gasUsed;
    const result = runTransaction(engine, transaction, context, gasLeft, permits);
    if (!result.ok) {
      dropped.push({ transaction, reason: result.error });
      continue;
    }
    const execution = result.value;
    gasUsed += execution.gasUsed;
    const receipt = createReceipt({
      type: transaction.transaction.type,
      succeeded: execution.status === "success",
      cumulativeGasUsed: gasUsed,
      logs: execution.logs,
    });
    included.push({ transaction, receipt, execution });
  }
  return { included, dropped };
}

/** Seconds on the chain, milliseconds in consensus: several blocks may share a second. */
function createBlockContext(
  batch: OrderedBatch,
  parent: ParentBlock,
  rules: ChainRules,
  { blockHash }: BatchDependencies,
): BlockContext {
  return {
    number: parent.header.number + 1n,
    timestamp: BigInt(Math.floor(batch.timestampMs / 1000)),
    coinbase: parent.header.coinbase,
    gasLimit: parent.header.gasLimit,
    baseFee: rules.baseFee,
    blobBaseFee: 1n,
    prevRandao: readBigEndian(batch.consensusHash, 0, 32),
    blockHash: (number) => readBigEndian(blockHash(number), 0, 32),
  };
}

function buildBlock(
  batch: OrderedBatch,
  parent: ParentBlock,
  context: BlockContext,
  included: readonly IncludedTransaction[],
  stateRoot: Uint8Array,
): Block {
  const transactions = included.map(({ transaction }) => transaction.encoded);
  const receipts = included.map(({ receipt }) => receipt);
  const header: Header = {
    parentHash: parent.hash,
    ommersHash: EMPTY_OMMERS_HASH,
    coinbase: context.coinbase,
    stateRoot,
    transactionsRoot: listRoot(transactions),
    receiptsRoot: receiptsRoot(receipts),
    logsBloom: mergeBlooms(receipts.map(({ logsBloom }) => logsBloom)),
    difficulty: 0n,
    number: context.number,
    gasLimit: context.gasLimit,
    gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? 0n,
    timestamp: context.timestamp,
    extraData: NO_BYTES,
    mixHash: batch.consensusHash,
    nonce: HEADER_NONCE,
    baseFeePerGas: context.baseFee,
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: EMPTY_REQUESTS_HASH,
  };
  return { header, transactions };
}

const NO_BYTES = new Uint8Array(0);
const HEADER_NONCE = new Uint8Array(HEADER_NONCE_SIZE);

/**
 * A node in memory for tests of ethrpc: a real genesis, a real pool and real execution, without
 * consensus and disk. `seal` orders what the pool holds and executes it as one block.
 */
import { bytesToHex } from "../../src/base/hex.ts";
import { err, ok, type Result } from "../../src/base/result.ts";
import { encodeBlock } from "../../src/chain/block.ts";
import type { BlockTransaction } from "../../src/chain/block-transaction.ts";
import type { CallRequest } from "../../src/api/call-request.ts";
import type { GenesisConfig } from "../../src/chain/genesis.ts";
import type { Receipt } from "../../src/chain/receipt.ts";
import {
  type RecoveredTransaction,
  recoverTransaction,
} from "../../src/chain/transaction-sender.ts";
import type { SimulationRequest } from "../../src/api/simulation.ts";
import type { SyncProgress } from "../../src/api/sync-progress.ts";
import type { SubmitRefusal, TransactionStatus } from "../../src/api/transaction-status.ts";
import type { FlatCallTracerOptions, TraceOptions } from "../../src/api/trace-options.ts";
import { checkTransaction } from "../../src/chain/transaction-validity.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { AnalyzedCodeCache } from "../../src/evm/analyzed-code.ts";
import { chainRules, type ChainRules } from "../../src/chain/chain-rules.ts";
import { executeBatch } from "../../src/execution/execute-batch.ts";
import { buildGenesis, type PredeployedContract } from "../../src/execution/genesis-state.ts";
import {
  type ReadKind,
  type ReadParams,
  type ReadResults,
  runReadJob,
} from "../../src/execution/calls/read-job.ts";
import type { BlockRecord, FoundTransaction, StateAt } from "../../src/api/chain-reader.ts";
import type { RpcReader } from "../../src/rpc/methods/method-table.ts";
import { MemoryStore } from "../../src/state/memory-store.ts";
import { StateDatabase } from "../../src/state/state-database.ts";
import { DEFAULT_POOL_OPTIONS, type TxPoolOptions } from "../../src/txpool/pool-options.ts";
import { type PoolStatus, type SenderTransactions, TxPool } from "../../src/txpool/tx-pool.ts";

type Sealed = {
  readonly record: BlockRecord;
  readonly transactions: readonly BlockTransaction[];
  readonly receipts: readonly Receipt[];
};

export type MemoryChainOptions = {
  readonly contracts?: readonly PredeployedContract[];
  readonly pool?: Partial<TxPoolOptions>;
};

export class MemoryChain implements RpcReader {
  readonly chainId: bigint;
  readonly clientVersion = "Quorate/v0.0.0-test/memory/node";
  readonly transactionGasMax: bigint;
  /** Blocks below this number have lost their state and their bodies. */
  keptFrom = 0n;
  progress: SyncProgress | undefined;
  readonly #database = new StateDatabase({}, new MemoryStore());
  readonly #rules: ChainRules;
  readonly #codes = new AnalyzedCodeCache(CODE_CACHE_BYTES);
  readonly #pool: TxPool;
  readonly #blocks: Sealed[] = [];
  readonly #blockListeners = new Set<(block: BlockRecord) => void>();
  readonly #acceptedListeners = new Set<(transaction: RecoveredTransaction) => void>();
  readonly #numbers = new Map<string, number>();
  readonly #positions = new Map<string, { readonly number: number; readonly index: number }>();

  constructor(genesis: GenesisConfig, { contracts = [], pool = {} }: MemoryChainOptions = {}) {
    this.chainId = genesis.chainId;
    this.transactionGasMax = genesis.transactionGasMax;
    this.#rules = chainRules(genesis);
    this.#pool = new TxPool(
      { ...DEFAULT_POOL_OPTIONS, ...pool },
      {
        nonceOf: (sender) => this.#database.account(sender)?.nonce ?? 0n,
        balanceOf: (sender) => this.#database.account(sender)?.balance ?? 0n,
      },
    );
    const { block, hash, transaction, receipt } = buildGenesis(genesis, contracts, this.#database);
    this.#push(
      {
        hash,
        header: block.header,
        size: encodeBlock(block).length,
        transactionHashes: [transaction.hash],
      },
      [transaction],
      [receipt],
    );
  }

  latestBlock(): BlockRecord {
    return this.#blocks.at(-1)!.record;
  }

  blockByNumber(number: bigint): BlockRecord | undefined {
    return this.#blocks[Number(number)]?.record;
  }

  blockByHash(hash: Uint8Array): BlockRecord | undefined {
    const number = this.#numbers.get(bytesToHex(hash));
    return number === undefined ? undefined : this.#blocks[number]?.record;
  }

  transactionsOf(block: BlockRecord): readonly BlockTransaction[] | undefined {
    return this.#kept(block)?.transactions;
  }

  receiptsOf(block: BlockRecord): readonly Receipt[] | undefined {
    return this.#kept(block)?.receipts;
  }

  findTransaction(hash: Uint8Array): FoundTransaction | undefined {
    const position = this.#positions.get(bytesToHex(hash));
    if (position === undefined) return undefined;
    const { record, transactions } = this.#blocks[position.number]!;
    const { index } = position;
    return { block: record, index, transaction: transactions[index]! };
  }

  pendingTransaction(hash: Uint8Array): RecoveredTransaction | undefined {
    return this.#pool.get(hash);
  }

  pendingNonce(address: bigint): bigint {
    return this.#pool.pendingNonceOf(address);
  }

  stateAt({ header }: BlockRecord): StateAt | undefined {
    const state = header.number < this.keptFrom ? undefined : this.#database.at(header.number);
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

  call(request: CallRequest, block: BlockRecord): ReadResults["call"] {
    return this.#run("call", { request, header: block.header }, block);
  }

  estimateGas(request: CallRequest, block: BlockRecord): ReadResults["estimateGas"] {
    return this.#run("estimateGas", { request, header: block.header }, block);
  }

  createAccessList(request: CallRequest, block: BlockRecord): ReadResults["accessList"] {
    return this.#run("accessList", { request, header: block.header }, block);
  }

  prove(address: bigint, slots: readonly bigint[], block: BlockRecord): ReadResults["proof"] {
    return this.#run("proof", { number: block.header.number, address, slots }, block);
  }

  simulate(request: SimulationRequest, { header }: BlockRecord): ReadResults["simulation"] {
    return this.#run("simulation", { request, header }, { ...this.latestBlock(), header });
  }

  traceCall(
    request: CallRequest,
    block: BlockRecord,
    options: TraceOptions,
  ): ReadResults["traceCall"] {
    return this.#run("traceCall", { request, header: block.header, options }, block);
  }

  traceTransactions(
    block: BlockRecord,
    { first, last }: { readonly first: number; readonly last: number },
    options: TraceOptions,
  ): ReadResults["traceTransactions"] {
    return this.#run("traceTransactions", this.#traced(block, first, last, options), block);
  }

  traceEntries(
    block: BlockRecord,
    { first, last }: { readonly first: number; readonly last: number },
    options: FlatCallTracerOptions,
  ): ReadResults["traceEntries"] {
    return this.#run("traceEntries", this.#traced(block, first, last, options), block);
  }

  /** A chain without consensus has none. */
  certificateOf(): undefined {
    return undefined;
  }

  transactionStatus(hash: Uint8Array): TransactionStatus | undefined {
    const position = this.#positions.get(bytesToHex(hash));
    if (position !== undefined) {
      return { kind: "final", number: BigInt(position.number), index: position.index };
    }
    return this.#pool.get(hash) === undefined ? undefined : { kind: "pending", code: undefined };
  }

  async whenSettled(
    hash: Uint8Array,
    timeoutMs: number,
    aborted?: AbortSignal,
  ): Promise<TransactionStatus | undefined> {
    const endMs = performance.now() + timeoutMs;
    while (this.transactionStatus(hash)?.kind === "pending" && performance.now() < endMs) {
      if (aborted?.aborted === true) break;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return this.transactionStatus(hash);
  }

  poolStatus(): PoolStatus {
    return this.#pool.status();
  }

  poolContent(): Iterable<SenderTransactions> {
    return this.#pool.content();
  }

  poolContentOf(sender: bigint): SenderTransactions {
    return this.#pool.contentOf(sender);
  }

  peerCount(): number {
    return 4;
  }

  oldestKept(): { readonly state: bigint; readonly blocks: bigint } {
    return { state: this.keptFrom, blocks: this.keptFrom };
  }

  onBlock(listener: (block: BlockRecord) => void): () => void {
    this.#blockListeners.add(listener);
    return () => this.#blockListeners.delete(listener);
  }

  onAccepted(listener: (transaction: RecoveredTransaction) => void): () => void {
    this.#acceptedListeners.add(listener);
    return () => this.#acceptedListeners.delete(listener);
  }

  submitRaw(encoded: Uint8Array): Result<Uint8Array, SubmitRefusal> {
    const hash = keccak256(encoded);
    if (this.findTransaction(hash) !== undefined) return ok(hash);
    const recovered = recoverTransaction(encoded);
    if (!recovered.ok) return recovered;
    const refused = checkTransaction(recovered.value.transaction, this.#rules);
    if (refused !== undefined) return err(refused);
    const added = this.#pool.add(recovered.value, { source: "test", nowMs: 0 });
    if (added.ok) for (const listener of this.#acceptedListeners) listener(recovered.value);
    return added.ok || added.error.code === "TX_ALREADY_KNOWN" ? ok(hash) : err(added.error);
  }

  priorityFee(): bigint {
    return 0n;
  }

  syncProgress(): SyncProgress | undefined {
    return this.progress;
  }

  /** One block of all that can be ordered. */
  seal(): BlockRecord {
    const parent = this.latestBlock();
    const transactions = [...this.#pool.executables()];
    const timestampMs = 1_700_000_000_000 + 1_000 * this.#blocks.length;
    const consensusHash = keccak256(parent.hash);
    const result = executeBatch({ transactions, consensusHash, timestampMs }, parent, this.#rules, {
      database: this.#database,
      blockHash: (number) => this.#blocks[Number(number)]!.record.hash,
    });
    if (result.block === undefined) throw new Error("nothing to seal");
    const { block, hash } = result.block;
    const included = result.included.map(({ transaction }) => transaction);
    const transactionHashes = included.map((transaction) => transaction.hash);
    const record = {
      hash,
      header: block.header,
      size: encodeBlock(block).length,
      transactionHashes,
    };
    this.#push(
      record,
      included,
      result.included.map(({ receipt }) => receipt),
    );
    const accounts = included.map(({ sender }) => {
      const account = this.#database.account(sender);
      return { address: sender, nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n };
    });
    this.#pool.onBlock({ accounts, included: transactionHashes });
    for (const listener of this.#blockListeners) listener(record);
    return record;
  }

  #push(
    record: BlockRecord,
    transactions: readonly BlockTransaction[],
    receipts: readonly Receipt[],
  ): void {
    const number = this.#blocks.length;
    this.#blocks.push({ record, transactions, receipts });
    this.#numbers.set(bytesToHex(record.hash), number);
    transactions.forEach(({ hash }, index) =>
      this.#positions.set(bytesToHex(hash), { number, index }),
    );
  }

  #kept({ header }: BlockRecord): Sealed | undefined {
    return header.number < this.keptFrom ? undefined : this.#blocks[Number(header.number)];
  }

  #traced(
    { header }: BlockRecord,
    firstTraced: number,
    last: number,
    options: TraceOptions,
  ): ReadParams["traceTransactions"] {
    const { transactions } = this.#blocks[Number(header.number)]!;
    const before = transactions.slice(0, last + 1) as readonly RecoveredTransaction[];
    return { header, transactions: before, firstTraced, options };
  }

  /** As the node's threads do it, but here. */
  #run<Kind extends ReadKind>(
    kind: Kind,
    params: ReadParams[Kind],
    { header }: BlockRecord,
  ): ReadResults[Kind] {
    if (header.number < this.keptFrom) return err({ kind: "pruned" });
    const endMs = performance.now() + CALL_MS_MAX;
    return runReadJob(
      kind,
      params,
      {
        rules: this.#rules,
        codes: this.#codes,
        stateAt: (number) => this.#database.at(number)!,
        prove: (number, address, slots) => this.#database.prove(number, address, slots)!,
        trialStateRoot: (number, changed) => this.#database.trialStateRoot(number, changed),
        blockHash: (number) => this.#blocks[Number(number)]!.record.hash,
      },
      {
        gasMax: CALL_GAS_MAX,
        resultBytesMax: RESULT_BYTES_MAX,
        shouldStop: () => performance.now() > endMs,
      },
    );
  }
}

const CALL_MS_MAX = 5_000;
const CALL_GAS_MAX = 60_000_000n;
const RESULT_BYTES_MAX = 1_000_000;
const CODE_CACHE_BYTES = 1_000_000;

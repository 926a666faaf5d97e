/** Everything that ethrpc reads from the node, in the shapes that src/api declares. */
import { invariant } from "../../base/invariant.ts";
import type { BlockCertificate } from "../../api/block-certificate.ts";
import type { BlockTransaction } from "../../chain/block-transaction.ts";
import type { CallRequest } from "../../api/call-request.ts";
import type { Header } from "../../chain/header.ts";
import type { Receipt } from "../../chain/receipt.ts";
import type { SimulationRequest } from "../../api/simulation.ts";
import type { SyncProgress } from "../../api/sync-progress.ts";
import type { FlatCallTracerOptions, TraceOptions } from "../../api/trace-options.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import type { TransactionStatus } from "../../api/transaction-status.ts";
import type { ReadKind, ReadResults } from "../../execution/calls/read-job.ts";
import type { TracedBlock } from "../../execution/trace/trace-transactions.ts";
import type { FeeRules } from "../../txpool/pool-options.ts";
import type { PoolStatus, SenderTransactions } from "../../txpool/tx-pool.ts";
import type { StoredBlockRecord } from "./block-record.ts";
import type { CallerNamer } from "../../api/chain-reader.ts";
import type { Calls } from "./calls.ts";
import type { ChainReader, LocatedTransaction, NamedBlock, StateAtBlock } from "./chain-reader.ts";
import type { ClientEvents } from "../client-events.ts";
import type { Emitter } from "../notifications.ts";
import type { NodeReadiness } from "../node-readiness.ts";
import type { ReplicaLinks } from "../replica-links.ts";
import type { FinalityWaiters } from "../transactions/finality-waiters.ts";
import type { PendingTransactions } from "../transactions/pending-transactions.ts";

export type LocalReadsOptions = {
  readonly chainId: bigint;
  readonly transactionGasMax: bigint;
  readonly clientVersion: string | undefined;
  readonly fees: FeeRules | undefined;
};

export type LocalReadsDependencies = {
  readonly reader: ChainReader;
  readonly calls: Calls;
  readonly pending: PendingTransactions;
  readonly waiters: FinalityWaiters;
  readonly events: Emitter<ClientEvents>;
  readonly links: Pick<ReplicaLinks, "replicasUp">;
  readonly readiness: Pick<NodeReadiness, "syncLag">;
};

type CalledBlock = { readonly header: Header };
type Read<Kind extends ReadKind> = ReadResults[Kind] | Promise<ReadResults[Kind]>;

export class LocalReads {
  readonly chainId: bigint;
  readonly transactionGasMax: bigint;
  readonly clientVersion: string;
  readonly #fees: FeeRules | undefined;
  readonly #dependencies: LocalReadsDependencies;
  readonly #startingBlock: bigint;

  constructor(options: LocalReadsOptions, dependencies: LocalReadsDependencies) {
    this.chainId = options.chainId;
    this.transactionGasMax = options.transactionGasMax;
    this.clientVersion = options.clientVersion ?? "quorate";
    this.#fees = options.fees;
    this.#dependencies = dependencies;
    this.#startingBlock = dependencies.reader.latestBlock().header.number;
  }

  latestBlock(): StoredBlockRecord {
    return this.#dependencies.reader.latestBlock();
  }

  blockByNumber(number: bigint): StoredBlockRecord | undefined {
    return this.#dependencies.reader.blockByNumber(number);
  }

  blockByHash(hash: Uint8Array): StoredBlockRecord | undefined {
    return this.#dependencies.reader.blockByHash(hash);
  }

  transactionsOf(block: NamedBlock): readonly BlockTransaction[] | undefined {
    return this.#dependencies.reader.transactionsOf(block);
  }

  receiptsOf(block: NamedBlock): readonly Receipt[] | undefined {
    return this.#dependencies.reader.receiptsOf(block);
  }

  findTransaction(hash: Uint8Array): LocatedTransaction | undefined {
    return this.#dependencies.reader.findTransaction(hash);
  }

  certificateOf(number: bigint): BlockCertificate | undefined {
    return this.#dependencies.reader.certificateOf(number);
  }

  pendingTransaction(hash: Uint8Array): RecoveredTransaction | undefined {
    return this.#dependencies.pending.get(hash);
  }

  pendingNonce(address: bigint): bigint {
    return this.#dependencies.pending.pendingNonce(address);
  }

  stateAt(block: NamedBlock): StateAtBlock | undefined {
    return this.#dependencies.reader.stateAt(block);
  }

  call(request: CallRequest, { header }: CalledBlock, caller?: CallerNamer): Read<"call"> {
    return this.#dependencies.calls.run("call", { request, header }, header.number, caller);
  }

  /** The least gas limit, at most that of the request, with which it succeeds. */
  estimateGas(
    request: CallRequest,
    { header }: CalledBlock,
    caller?: CallerNamer,
  ): Read<"estimateGas"> {
    return this.#dependencies.calls.run("estimateGas", { request, header }, header.number, caller);
  }

  createAccessList(
    request: CallRequest,
    { header }: CalledBlock,
    caller?: CallerNamer,
  ): Read<"accessList"> {
    return this.#dependencies.calls.run("accessList", { request, header }, header.number, caller);
  }

  simulate(
    request: SimulationRequest,
    { header }: CalledBlock,
    caller?: CallerNamer,
  ): Read<"simulation"> {
    return this.#dependencies.calls.run("simulation", { request, header }, header.number, caller);
  }

  traceCall(
    request: CallRequest,
    { header }: CalledBlock,
    options: TraceOptions,
    caller?: CallerNamer,
  ): Read<"traceCall"> {
    const params = { request, header, options };
    return this.#dependencies.calls.run("traceCall", params, header.number, caller);
  }

  traceTransactions(
    block: NamedBlock,
    places: { readonly first: number; readonly last: number },
    options: TraceOptions,
    caller?: CallerNamer,
  ): Read<"traceTransactions"> {
    const params = this.#tracedBlock(block, places, options);
    const { number } = block.header;
    return this.#dependencies.calls.run("traceTransactions", params, number - 1n, caller);
  }

  traceEntries(
    block: NamedBlock,
    places: { readonly first: number; readonly last: number },
    options: FlatCallTracerOptions,
    caller?: CallerNamer,
  ): Read<"traceEntries"> {
    const params = this.#tracedBlock(block, places, options);
    const { number } = block.header;
    return this.#dependencies.calls.run("traceEntries", params, number - 1n, caller);
  }

  prove(
    address: bigint,
    slots: readonly bigint[],
    { header }: CalledBlock,
    caller?: CallerNamer,
  ): Read<"proof"> {
    const { number } = header;
    return this.#dependencies.calls.run("proof", { number, address, slots }, number, caller);
  }

  transactionStatus(hash: Uint8Array): TransactionStatus | undefined {
    const { reader, pending } = this.#dependencies;
    const found = reader.findTransaction(hash);
    if (found === undefined) return pending.statusOf(hash);
    return { kind: "final", number: found.block.header.number, index: found.index };
  }

  /** As soon as it is final or refused, or as it is when the time is over. */
  async whenSettled(
    hash: Uint8Array,
    timeoutMs: number,
    aborted?: AbortSignal,
  ): Promise<TransactionStatus | undefined> {
    const status = this.transactionStatus(hash);
    if (status?.kind !== "pending") return status;
    await this.#dependencies.waiters.wait(hash, timeoutMs, aborted);
    return this.transactionStatus(hash);
  }

  poolStatus(): PoolStatus {
    return this.#dependencies.pending.poolStatus();
  }

  poolContent(): Iterable<SenderTransactions> {
    return this.#dependencies.pending.content();
  }

  poolContentOf(sender: bigint): SenderTransactions {
    return this.#dependencies.pending.contentOf(sender);
  }

  peerCount(): number {
    return this.#dependencies.links.replicasUp.length;
  }

  /** Everything is kept. */
  oldestKept(): { readonly state: bigint; readonly blocks: bigint } {
    return { state: 0n, blocks: 0n };
  }

  /** Every block from now on, in order, once each. Returns what ends it. */
  onBlock(listener: (block: StoredBlockRecord) => void): () => void {
    return this.#dependencies.events.on("blockPublished", listener);
  }

  onAccepted(listener: (transaction: RecoveredTransaction) => void): () => void {
    return this.#dependencies.events.on("transactionAccepted", listener);
  }

  /** The least tip per gas that is taken; 0 where gas is free. */
  priorityFee(): bigint {
    return this.#fees?.priceMin ?? 0n;
  }

  /** Undefined when the node has caught up. One height makes at most one block. */
  syncProgress(): SyncProgress | undefined {
    const lag = this.#dependencies.readiness.syncLag;
    if (lag === 0) return undefined;
    const currentBlock = this.latestBlock().header.number;
    const highestBlock = currentBlock + BigInt(lag);
    return { startingBlock: this.#startingBlock, currentBlock, highestBlock };
  }

  #tracedBlock(
    { header: { number } }: NamedBlock,
    { first, last }: { readonly first: number; readonly last: number },
    options: TraceOptions,
  ): TracedBlock {
    const record = this.blockByNumber(number);
    invariant(record !== undefined && record.header.number > 0n, "the block was found before");
    const { header } = record;
    const transactions = record.transactions.slice(0, last + 1).flatMap(signedOnly);
    return { header, transactions, firstTraced: first, options };
  }
}

/** Without what block 0 has. */
function signedOnly(
  transaction: BlockTransaction,
): TracedBlock["transactions"][number] | readonly [] {
  if (!("transaction" in transaction)) return [];
  const { sender, hash } = transaction;
  return { sender, hash, transaction: transaction.transaction };
}

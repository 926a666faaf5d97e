/** eth_simulateV1: blocks of calls on the state after a block, each on what the one before left. */
import { err, ok, type Result } from "../../base/result.ts";
import { encodeBlock } from "../../chain/block.ts";
import { mergeBlooms } from "../../chain/bloom.ts";
import type { CallFailure } from "../../api/call-request.ts";
import { ZERO_HASH } from "../../chain/hash-constants.ts";
import { type Header, headerHash } from "../../chain/header.ts";
import { listRoot } from "../../chain/list-root.ts";
import { createReceipt, type Receipt, receiptsRoot } from "../../chain/receipt.ts";
import type {
  SimulatedBlock,
  SimulatedBlockRequest,
  SimulatedCall,
  SimulatedCallRequest,
  SimulationRequest,
} from "../../api/simulation.ts";
import { encodeTransaction } from "../../chain/transaction-encoder.ts";
import type { RecoveredTransaction } from "../../chain/transaction-sender.ts";
import { checkTransaction } from "../../chain/transaction-validity.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { readBigEndian, writeBigEndian } from "../../base/big-endian.ts";
import type { BlockContext } from "../../evm/message.ts";
import { blockContextOf } from "../block-context.ts";
import type { DropReason } from "../drop-reason.ts";
import { createEngine } from "../engine.ts";
import { movedPrecompiles, type ReadBounds, type ReadSource } from "./read-environment.ts";
import { executeTransaction, type TransactionEngine } from "../run-transaction.ts";
import { SimulatedState } from "./simulated-state.ts";
import { checkAgainstState } from "../state-validity.ts";
import { createTransferLogs } from "../trace/transfer-logs.ts";
import { upfrontCost } from "../transaction-fee.ts";

export type Simulation = { readonly request: SimulationRequest; readonly header: Header };

/** Blocks of one simulation, those included that only fill gaps. */
const BLOCKS_MAX = 256n;
const NO_BLOCK: SimulatedBlockRequest = { stateOverrides: [], blockOverrides: {}, calls: [] };

export function simulate(
  { request, header }: Simulation,
  source: ReadSource,
  bounds: ReadBounds,
): Result<readonly SimulatedBlock[], CallFailure> {
  const planned = planBlocks(request, header);
  if (!planned.ok) return planned;
  const run = new SimulationRun(request, header, source, bounds);
  for (const block of planned.value) {
    const failure = run.add(block);
    if (failure !== undefined) return err(failure);
  }
  return ok(run.blocks);
}

type PlannedBlock = SimulatedBlockRequest & {
  readonly number: bigint;
  readonly timestamp: bigint;
};

/** Numbers that are skipped get a block without calls. */
function planBlocks(
  { blocks }: SimulationRequest,
  base: Header,
): Result<readonly PlannedBlock[], CallFailure> {
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const block of blocks) {
    const wanted = block.blockOverrides.number ?? number + 1n;
    if (wanted <= number) return refused("SIMULATION_NUMBER_INVALID", number + 1n);
    if (wanted - base.number > BLOCKS_MAX) return refused("SIMULATION_TOO_LONG", BLOCKS_MAX);
    while (++number < wanted) planned.push({ ...NO_BLOCK, number, timestamp: ++timestamp });
    const time = block.blockOverrides.timestamp ?? timestamp + 1n;
    if (time < timestamp) return refused("SIMULATION_TIME_INVALID", timestamp);
    timestamp = time;
    planned.push({ ...block, number, timestamp });
  }
  return ok(planned);
}

class SimulationRun {
  readonly blocks: SimulatedBlock[] = [];
  readonly #request: SimulationRequest;
  readonly #base: Header;
  readonly #source: ReadSource;
  readonly #bounds: ReadBounds;
  readonly #state: SimulatedState;
  readonly #hashes = new Map<bigint, Uint8Array>();
  #parent: { readonly header: Header; readonly hash: Uint8Array };
  #gasLeft: bigint;

  constructor(request: SimulationRequest, base: Header, source: ReadSource, bounds: ReadBounds) {
    this.#request = request;
    this.#base = base;
    this.#source = source;
    this.#bounds = bounds;
    this.#state = new SimulatedState(source.stateAt(base.number));
    this.#parent = { header: base, hash: source.blockHash(base.number) };
    this.#gasLeft = bounds.gasMax;
  }

  add(planned: PlannedBlock): CallFailure | undefined {
    const { rules, codes } = this.#source;
    this.#state.override(planned.stateOverrides);
    const context = this.#context(planned);
    const engine = createEngine(rules, this.#state.reader, {
      codes,
      shouldStop: () => this.#bounds.shouldStop(),
      precompiles: movedPrecompiles(rules, planned.stateOverrides),
    });
    const transactions: RecoveredTransaction[] = [];
    const calls: SimulatedCall[] = [];
    let gasUsed = 0n;
    for (const call of planned.calls) {
      const outcome = this.#run(engine, call, context, context.gasLimit - gasUsed);
      if (!outcome.ok) return outcome.error;
      gasUsed += outcome.value.call.gasUsed;
      transactions.push(outcome.value.transaction);
      calls.push(outcome.value.call);
    }
    this.#state.apply(engine.journal.blockChanges());
    this.#seal(context, transactions, calls);
    return undefined;
  }

  #context({ number, timestamp, blockOverrides }: PlannedBlock): BlockContext {
    const { header } = this.#parent;
    const { prevRandao = 0n, baseFee = 0n } = blockOverrides;
    const isPriced = blockOverrides.baseFee !== undefined || !this.#request.isValidated;
    const context = blockContextOf(header, () => ZERO_HASH, {
      ...blockOverrides,
      ...{ number, timestamp, prevRandao },
      baseFee: isPriced ? baseFee : header.baseFeePerGas,
    });
    const blockHash = (asked: bigint): bigint => {
      const hash = this.#hashes.get(asked) ?? this.#source.blockHash(asked);
      return readBigEndian(hash, 0, 32);
    };
    return { ...context, blockHash };
  }

  #run(
    engine: TransactionEngine,
    call: SimulatedCallRequest,
    context: BlockContext,
    blockGasLeft: bigint,
  ): Result<
    { readonly transaction: RecoveredTransaction; readonly call: SimulatedCall },
    CallFailure
  > {
    const room = blockGasLeft < this.#gasLeft ? blockGasLeft : this.#gasLeft;
    const { sender } = call;
    const transaction = {
      ...call.transaction,
      ...(!call.hasNonce && { nonce: engine.journal.nonce(sender) }),
      gasLimit: call.hasGas ? call.transaction.gasLimit : room,
    };
    const request = { sender, transaction };
    const reason = this.#refusal(engine, request, context, blockGasLeft);
    if (reason !== undefined) return err({ kind: "refused", ...reason });
    if (transaction.gasLimit > this.#gasLeft) return err({ kind: "stopped" });
    const transfers = this.#request.hasTransferLogs ? createTransferLogs() : undefined;
    const executed = executeTransaction(engine, request, context, transfers?.hooks);
    const { status, output, gasUsed, gasRefunded } = executed;
    if (status === "stopped") return err({ kind: "stopped" });
    this.#gasLeft -= gasUsed;
    const signed = { ...transaction, yParity: 0, r: 0n, s: 0n } as const;
    const encoded = encodeTransaction(signed);
    return ok({
      transaction: { transaction: signed, encoded, hash: keccak256(encoded), sender },
      call: {
        status,
        output,
        reason: executed.reason,
        gasUsed,
        gasUsedMax: gasUsed + BigInt(gasRefunded),
        logs: transfers === undefined ? executed.logs : [...transfers.logs],
      },
    });
  }

  #refusal(
    engine: TransactionEngine,
    request: Pick<SimulatedCallRequest, "sender" | "transaction">,
    context: BlockContext,
    blockGasLeft: bigint,
  ): DropReason | undefined {
    const { journal, fork } = engine;
    const { transaction, sender } = request;
    const fault = checkTransaction(transaction, { ...engine, transactionGasMax: undefined });
    if (fault !== undefined) return fault;
    if (this.#request.isValidated) {
      return checkAgainstState(journal, request, context, { blockGasLeft, fork });
    }
    if (transaction.gasLimit > blockGasLeft) {
      return { code: "TX_BLOCK_GAS_EXHAUSTED", limit: blockGasLeft };
    }
    const cost = upfrontCost(transaction, undefined);
    if (journal.balance(sender) >= cost) return undefined;
    return { code: "TX_INSUFFICIENT_BALANCE", limit: cost };
  }

  #seal(
    context: BlockContext,
    transactions: readonly RecoveredTransaction[],
    calls: readonly SimulatedCall[],
  ): void {
    let cumulativeGasUsed = 0n;
    const receipts: Receipt[] = calls.map(({ status, gasUsed, logs }, index) => {
      cumulativeGasUsed += gasUsed;
      const type = transactions[index]?.transaction.type ?? 0;
      return createReceipt({ type, succeeded: status === "success", cumulativeGasUsed, logs });
    });
    const encoded = transactions.map((one) => one.encoded);
    const mixHash = new Uint8Array(32);
    writeBigEndian(context.prevRandao, mixHash, 0, 32);
    const header: Header = {
      ...this.#base,
      parentHash: this.#parent.hash,
      coinbase: context.coinbase,
      stateRoot: this.#source.trialStateRoot(this.#base.number, this.#state.changed()),
      transactionsRoot: listRoot(encoded),
      receiptsRoot: receiptsRoot(receipts),
      logsBloom: mergeBlooms(receipts.map(({ logsBloom }) => logsBloom)),
      number: context.number,
      gasLimit: context.gasLimit,
      gasUsed: cumulativeGasUsed,
      timestamp: context.timestamp,
      mixHash,
      baseFeePerGas: context.baseFee,
    };
    const hash = headerHash(header);
    const size = encodeBlock({ header, transactions: encoded }).length;
    this.#parent = { header, hash };
    this.#hashes.set(header.number, hash);
    this.blocks.push({ header, hash, size, transactions, calls });
  }
}

function refused(code: string, limit: bigint): Result<never, CallFailure> {
  return err({ kind: "refused", code, limit });
}
